/// The comparisons of those columns of a table that scopes name.
package struct TableComparison: Sendable, Hashable {
    /// The comparisons, by the columns' names in lower case. A missing column is compared byte by byte.
    package var columns: [String: ColumnComparison]

    package init(columns: [String: ColumnComparison] = [:]) { self.columns = columns }

    /// Returns a scope's values as the table compares them, by the columns' names in lower case.
    package func values(of scope: [String: String]) -> [String: ComparedValue] {
        scope.reduce(into: [:]) { values, entry in
            let column = entry.key.lowercased()
            values[column] = (columns[column] ?? .exact).value(entry.value)
        }
    }

    /// Returns true if two scopes may have rows in common. They have none if a column that both name has different
    /// values.
    package func mayShareRows(_ scope: [String: String], _ other: [String: String]) -> Bool {
        scope.isEmpty || other.isEmpty || values(of: scope).mayShareRows(with: values(of: other))
    }
}

extension [String: ComparedValue] {
    func mayShareRows(with other: [String: ComparedValue]) -> Bool {
        allSatisfy { column, value in other[column].map { $0 == value } ?? true }
    }
}

extension [[String: String]] {
    /// The columns that the scopes name, in lower case.
    package var columns: Set<String> { reduce(into: []) { $0.formUnion($1.keys.map { $0.lowercased() }) } }
}
