/// Who claims rows of which tables, each within a scope: finds those whose rows may be the same without looking at all.
package struct ScopeIndex<Claimant: Hashable> {
    /// The claimants of one table whose scopes name the same columns, by scope.
    private typealias Claims = [[String: String]: Set<Claimant>]
    /// By the table's name in lowercase, then by the scope's columns.
    private var tables: [String: [Set<String>: Claims]] = [:]

    package init() {}

    package mutating func insert(_ claimant: Claimant, table: String, scope: [String: String]) {
        tables[table.lowercased(), default: [:]][Set(scope.keys), default: [:]][scope, default: []].insert(claimant)
    }

    package mutating func remove(_ claimant: Claimant, table: String, scope: [String: String]) {
        tables[table.lowercased()]?[Set(scope.keys)]?[scope]?.remove(claimant)
    }

    /// The claimants of rows that may be within the scope.
    package func claimants(of table: String, within scope: [String: String]) -> [Claimant] {
        (tables[table.lowercased()] ?? [:]).flatMap { columns, claims in
            // Sources that mirror one table name the same columns, as a rule: one of them has this scope, or none.
            if columns.isSubset(of: scope.keys) {
                return Array(claims[scope.filter { columns.contains($0.key) }] ?? [])
            }
            return claims.filter { $0.key.mayShareRows(with: scope) }.flatMap(\.value)
        }
    }
}
