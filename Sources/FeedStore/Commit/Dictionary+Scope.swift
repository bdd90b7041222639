extension [String: String] {
    /// Whether two scopes have rows in common: they do unless a column that both name has different values.
    package func mayShareRows(with other: [String: String]) -> Bool {
        allSatisfy { column, value in other[column].map { $0 == value } ?? true }
    }
}
