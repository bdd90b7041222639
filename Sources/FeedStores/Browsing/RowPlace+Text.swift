import FeedModel
import Foundation

/// A place as text, for addresses: `i17,tabc`, and with a value by which the rows are sorted `r1.5;i17`.
extension RowPlace {
    package var text: String {
        let key = self.key.map(Self.text).joined(separator: ",")
        return sorted.map { Self.text($0) + ";" + key } ?? key
    }

    /// - Returns: nil for a text that ``text`` does not give.
    package init?(_ text: String) {
        let parts = text.unicodeScalars.split(separator: ";", omittingEmptySubsequences: false)
        guard parts.count <= 2, let last = parts.last else { return nil }
        var key: [StoredValue] = []
        for part in last.split(separator: ",", omittingEmptySubsequences: false) {
            guard let value = Self.value(part) else { return nil }
            key.append(value)
        }
        self.init(key: key)
        guard parts.count == 2 else { return }
        guard let value = Self.value(parts[0]) else { return nil }
        sorted = value
    }

    private static func text(_ value: StoredValue) -> String {
        switch value {
        case .null: "n"
        case .integer(let number): "i\(number)"
        case .real(let number): "r\(number)"
        case .text(let text): "t" + escaped(text)
        case .blob(let data): "b" + data.base64EncodedString()
        }
    }

    // By scalars: a comma before a combining mark is no character of its own.
    private static func value(_ text: Substring.UnicodeScalarView) -> StoredValue? {
        let rest = String(text.dropFirst())
        return switch text.first {
        case "n": rest.isEmpty ? .null : nil
        case "i": Int64(rest).map { .integer($0) }
        case "r": Double(rest).map { .real($0) }
        case "t": unescaped(rest).map { .text($0) }
        case "b": Data(base64Encoded: rest).map { .blob($0) }
        default: nil
        }
    }

    private static let escapes: [(scalar: Unicode.Scalar, digit: Unicode.Scalar)] = [
        ("~", "0"), (",", "1"), (";", "2"),
    ]

    private static func escaped(_ text: String) -> String {
        var escaped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if let escape = escapes.first(where: { $0.scalar == scalar }) {
                escaped.append(contentsOf: ["~", escape.digit])
            } else {
                escaped.append(scalar)
            }
        }
        return String(escaped)
    }

    private static func unescaped(_ text: String) -> String? {
        var unescaped = String.UnicodeScalarView()
        var scalars = text.unicodeScalars.makeIterator()
        while let scalar = scalars.next() {
            guard scalar == "~" else {
                unescaped.append(scalar)
                continue
            }
            guard let digit = scalars.next(), let escape = escapes.first(where: { $0.digit == digit }) else {
                return nil
            }
            unescaped.append(escape.scalar)
        }
        return String(unescaped)
    }
}
