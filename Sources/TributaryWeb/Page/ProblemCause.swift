/// What is the same in the errors of several sources: the text without addresses, quoted texts and numbers, but for
/// statuses.
struct ProblemCause: Sendable, Hashable {
    /// The bytes of an error that are looked at.
    private static let longest = 400

    let text: String
    /// The host of the first address; nil where the error names none.
    let host: String?

    init(_ error: String) {
        let bytes = Array(error.utf8.prefix(Self.longest))
        var found: [UInt8] = []
        var host: String?
        var place = 0
        func skip(while condition: (UInt8) -> Bool) -> ArraySlice<UInt8> {
            let start = place
            while place < bytes.count, condition(bytes[place]) { place += 1 }
            return bytes[start..<place]
        }
        let ellipsis = Array("…".utf8)
        while place < bytes.count {
            let byte = bytes[place]
            if byte == UInt8(ascii: "h"), Self.isAddress(bytes[place...]) {
                let address = skip { $0 > 32 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "'") }
                host = host ?? Self.host(address)
                found += ellipsis
                if address.last == UInt8(ascii: ":") { found.append(UInt8(ascii: ":")) }
            } else if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") {
                place += 1
                _ = skip { $0 != byte }
                found += [byte] + ellipsis + [byte]
                place += 1
            } else if Self.isDigit(byte) {
                let number = skip(while: Self.isDigit)
                found += number.count == 3 ? Array(number) : ellipsis
            } else {
                found.append(byte)
                place += 1
            }
        }
        text = String(decoding: found, as: UTF8.self)
        self.host = host
    }

    private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

    private static func isAddress(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.starts(with: "http://".utf8) || bytes.starts(with: "https://".utf8)
    }

    private static func host(_ address: ArraySlice<UInt8>) -> String? {
        let slash = UInt8(ascii: "/")
        let parts = address.split(separator: slash, maxSplits: 2)
        guard parts.count > 1 else { return nil }
        let host = String(decoding: parts[1], as: UTF8.self)
        return host.last == ":" ? String(host.dropLast()) : host
    }
}
