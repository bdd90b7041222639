/// Decides which values are equal in a column. The affinity decides how the column stores a text, the collation which
/// texts are equal (SQLite, "Datatypes in SQLite", sections 3 and 7).
package struct ColumnComparison: Sendable, Hashable {
    package var affinity: Affinity
    /// The collation's name, in upper case.
    package var collation: String
    /// The texts that stand for the same value; nil for a type that keeps each text as it is.
    package var spellings: ValueSpellings?

    package init(affinity: Affinity, collation: String = "BINARY") {
        self.affinity = affinity
        self.collation = collation.uppercased()
    }

    /// Compares byte by byte; for a column about which nothing is known.
    package static let exact = ColumnComparison(affinity: .text)

    /// Returns the value that all texts equal to this one share. A text that the spellings lack stands for itself.
    package func value(_ text: String) -> ComparedValue {
        let text = spellings?[text] ?? text
        switch affinity {
        case .text, .blob:
            return self.text(text)
        case .integer, .numeric:
            return ComparedValue(number: text) ?? self.text(text)
        case .real:
            switch ComparedValue(number: text) {
            case .integer(let number): return .real(Double(number))
            case .real(let number): return .real(number)
            default: return self.text(text)
            }
        }
    }

    /// Returns the value for a text that the column stores as text.
    package func text(_ text: String) -> ComparedValue {
        var bytes = Array(text.utf8)
        switch collation {
        case "NOCASE":
            for index in bytes.indices where (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(bytes[index]) {
                bytes[index] += 32
            }
        case "RTRIM":
            while bytes.last == UInt8(ascii: " ") { bytes.removeLast() }
        default:
            break
        }
        return .text(bytes)
    }
}

/// Texts that stand for values of a type, each with the one text by which the database shows its value. Only the database
/// knows that `yes` is the boolean `true`, and `20260101` the date `2026-01-01`.
package struct ValueSpellings: Sendable, Hashable {
    /// The type as SQL writes it.
    package let type: String
    private var texts: [String: String] = [:]

    package init(type: String) { self.type = type }

    /// The shown text; nil for a text about which the database has not been asked.
    package subscript(text: String) -> String? {
        get { texts[text] }
        set { texts[text] = newValue }
    }

    /// Returns true for two of one type. What is known about its texts never changes, and only grows.
    package static func == (left: ValueSpellings, right: ValueSpellings) -> Bool { left.type == right.type }

    package func hash(into hasher: inout Hasher) { hasher.combine(type) }
}
