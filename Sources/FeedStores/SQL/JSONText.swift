import Foundation

/// Lists and dictionaries in columns of text or JSON.
package enum JSONText {
    package static func encode(_ value: some Encodable & Collection) throws -> String {
        String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private static let encoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }()

    package static func decode<Value: Decodable>(_ text: String) -> Value? {
        try? JSONDecoder().decode(Value.self, from: Data(text.utf8))
    }

    /// Decodes a list of texts. Most have no escapes.
    package static func texts(_ text: String) -> [String] {
        guard !text.utf8.contains(UInt8(ascii: "\\")) else { return decode(text) ?? [] }
        // Every other piece is the text between two quotes.
        let pieces = text.utf8.split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false)
        return stride(from: 1, to: pieces.count, by: 2).map { String(Substring(pieces[$0])) }
    }

    /// Decodes an object of texts. Most are empty or have no escapes.
    package static func object(_ text: String) -> [String: String] {
        if text == "{}" { return [:] }
        guard !text.utf8.contains(UInt8(ascii: "\\")) else { return decode(text) ?? [:] }
        // Every other piece is the text between two quotes: a name, then its value.
        let pieces = text.utf8.split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false)
        guard pieces.count % 4 == 1 else { return decode(text) ?? [:] }
        return stride(from: 1, to: pieces.count, by: 4).reduce(into: [:]) {
            $0[String(Substring(pieces[$1]))] = String(Substring(pieces[$1 + 2]))
        }
    }
}
