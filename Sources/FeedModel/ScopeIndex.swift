/// An index of scopes of tables' rows. It finds the scopes that may share rows with another one without checking every
/// scope.
package struct ScopeIndex<Claimant: Hashable> {
    private typealias Values = [String: ComparedValue]

    /// The claimants, by the columns of their scopes and by the scopes' values, by table.
    private var tables: [String: [Set<String>: [Values: [Claimant]]]] = [:]
    private let comparisons: [String: TableComparison]

    /// - Parameter comparisons: how tables compare the columns and values of scopes, by the tables' names in lower case. A
    ///   missing table's are compared byte by byte.
    package init(comparisons: [String: TableComparison] = [:]) { self.comparisons = comparisons }

    package mutating func insert(_ claimant: Claimant, table: String, scope: [String: String]) {
        let values = values(of: scope, in: table)
        tables[table.lowercased(), default: [:]][Set(values.keys), default: [:]][values, default: []].append(claimant)
    }

    /// Returns the claimants of rows that may be within the scope.
    package func claimants(of table: String, within scope: [String: String]) -> [Claimant] {
        let values = values(of: scope, in: table)
        return (tables[table.lowercased()] ?? [:]).flatMap { columns, claims in
            // Sources that mirror one table usually name the same columns. Then at most one of them has this scope.
            if columns.isSubset(of: values.keys) { return claims[values.filter { columns.contains($0.key) }] ?? [] }
            return claims.filter { $0.key.mayShareRows(with: values) }.flatMap(\.value)
        }
    }

    private func values(of scope: [String: String], in table: String) -> Values {
        (comparisons[table.lowercased()] ?? TableComparison()).values(of: scope)
    }
}

/// The rows of a table that have the values of a scope.
package struct ScopedRows: Sendable, Hashable {
    /// The table's name, in lower case.
    package let table: String
    package let scope: [String: String]

    package init(table: String, scope: [String: String]) {
        self.table = table.lowercased()
        self.scope = scope
    }
}
