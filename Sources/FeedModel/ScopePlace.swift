import Foundation

/// The place of a scope in an index of scopes: two hashes, by which a database finds the scopes that may share rows with
/// another one.
///
/// The values are folded: texts that a column may hold for equal have one form, whichever type and collation the column
/// has by now. Different values may have one form, too, so that the scopes at one place are to be compared.
package struct ScopePlace: Sendable, Equatable {
    /// A hash of the names of the scope's columns, regardless of case; 0 for the empty scope, and above 0 for others.
    package let columns: Int64
    /// A hash of the scope's values; 0 for the empty scope, and if a value may be equal to texts of other forms.
    package let values: Int64

    package init(_ scope: [String: String]) { self.init(scope, Self.fold) }

    /// - Parameter values: as columns compare them, by the columns' names.
    package init(_ values: [String: ComparedValue]) { self.init(values, Self.fold) }

    private init<Value>(_ scope: [String: Value], _ fold: (Value) -> String?) {
        let entries = scope.map { (name: $0.key.lowercased(), value: fold($0.value)) }.sorted { $0.name < $1.name }
        columns = scope.isEmpty ? 0 : Self.hash(entries.map(\.name))
        let values = entries.compactMap(\.value)
        self.values = scope.isEmpty || values.count < entries.count ? 0 : Self.hash(values)
    }

    /// Returns a number from 1 to 2^62, so that one more and one less are numbers of 64 bits.
    private static func hash(_ texts: [String]) -> Int64 {
        Int64(Fingerprint.hash(texts.joined(separator: "\0")) >> 2) + 1
    }

    private static func fold(_ value: ComparedValue) -> String? {
        switch value {
        case .integer(let number): "\(Double(number))"
        case .real(let number): "\(number)"
        case .text(let bytes), .blob(let bytes): fold(String(decoding: bytes, as: UTF8.self))
        }
    }

    /// - Returns: nil for a notation of PostgreSQL's own: `0x11`, `1_000` and `inf`, and a UUID in other groups than usual.
    private static func fold(_ text: String) -> String? {
        var word = text.lowercased().trimmingCharacters(in: .whitespacesAndNewlines)
        let digits = word.filter { !"-{}".contains($0) }
        if digits.count == 32, !word.hasPrefix("-"), digits.allSatisfy(\.isHexDigit) {
            guard [0, 4].contains(word.count { $0 == "-" }) else { return nil }
            word = digits
        }
        switch ComparedValue(number: word) {
        case .integer(let number): return "\(Double(number))"
        case .real(let number): return "\(number)"
        default: break
        }
        let number = word.hasPrefix("-") || word.hasPrefix("+") ? word.dropFirst() : word[...]
        let isNumber =
            number.first.map { $0 == "." || $0.isNumber } == true
            && (number.contains("_") || ["0x", "0o", "0b"].contains(number.prefix(2)))
        return isNumber || ["inf", "infinity", "nan"].contains(number) ? nil : word
    }
}
