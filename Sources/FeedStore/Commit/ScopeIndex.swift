/// Who claims rows of which tables, each within a scope: finds those whose rows may be the same without looking at all.
package struct ScopeIndex<Claimant: Hashable> {
    /// The claimants of one table whose scopes name the same columns, by the columns' values.
    private typealias Claims = [[String]: Set<Claimant>]
    /// By the table's name in lowercase, then by the scope's columns.
    private var tables: [String: [[String]: Claims]] = [:]

    package init() {}

    package mutating func insert(_ claimant: Claimant, table: String, scope: [String: String]) {
        let columns = scope.keys.sorted()
        tables[table.lowercased(), default: [:]][columns, default: [:]][columns.map { scope[$0]! }, default: []]
            .insert(claimant)
    }

    package mutating func remove(_ claimant: Claimant, table: String, scope: [String: String]) {
        let columns = scope.keys.sorted()
        tables[table.lowercased()]?[columns]?[columns.map { scope[$0]! }]?.remove(claimant)
    }

    /// The claimants of rows that may be within the scope: two scopes share rows unless a column that both name has
    /// different values.
    package func claimants(of table: String, within scope: [String: String]) -> [Claimant] {
        (tables[table.lowercased()] ?? [:]).flatMap { columns, claims in
            let values = columns.map { scope[$0] }
            let named = values.compactMap(\.self)
            if named.count == columns.count { return Array(claims[named] ?? []) }
            return claims.filter { zip(values, $0.key).allSatisfy { $0 == nil || $0 == $1 } }.flatMap(\.value)
        }
    }
}
