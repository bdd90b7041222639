/// The text form of arrays of one dimension: `{a,"b c",NULL}` ("Array Input and Output Syntax").
enum ArrayText {
    /// - Returns: nil if the text is no such array.
    static func decoded(_ text: UnsafeRawBufferPointer) -> [String?]? {
        guard text.count >= 2, text.first == UInt8(ascii: "{"), text.last == UInt8(ascii: "}") else { return nil }
        var elements: [String?] = []
        var index = 1
        let end = text.count - 1
        guard index < end else { return [] }
        while true {
            guard let element = element(of: text, from: &index, to: end) else { return nil }
            elements.append(
                element.isQuoted || element.bytes != null ? String(decoding: element.bytes, as: UTF8.self) : nil)
            if index == end { return elements }
            guard text[index] == UInt8(ascii: ",") else { return nil }
            index += 1
        }
    }

    private static let null = Array("NULL".utf8)

    /// - Returns: nil if a quote is left open, or an array begins inside the array.
    private static func element(
        of text: UnsafeRawBufferPointer, from index: inout Int, to end: Int
    ) -> (bytes: [UInt8], isQuoted: Bool)? {
        var bytes: [UInt8] = []
        let isQuoted = index < end && text[index] == UInt8(ascii: "\"")
        if isQuoted { index += 1 }
        while index < end {
            switch text[index] {
            case UInt8(ascii: "\\"):
                index += 1
                guard index < end else { return nil }
                bytes.append(text[index])
            case UInt8(ascii: "\"") where isQuoted:
                index += 1
                return (bytes, true)
            case UInt8(ascii: ",") where !isQuoted: return (bytes, false)
            case UInt8(ascii: "{") where !isQuoted: return nil
            case let byte: bytes.append(byte)
            }
            index += 1
        }
        return isQuoted ? nil : (bytes, false)
    }
}
