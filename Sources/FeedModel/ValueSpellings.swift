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
