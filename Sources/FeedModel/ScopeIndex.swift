/// An index of claims on rows of tables, each within a scope. It finds claims that may share rows without checking
/// every claim.
package struct ScopeIndex<Claimant: Hashable> {
    private typealias Values = [String: ComparedValue]

    private struct Scope {
        var declared: [String: String]
        /// The values by which the claimant is in `claims`.
        var values: Values
    }

    private struct Table {
        var scopes: [Claimant: Scope] = [:]
        /// The comparison that gave the values in `claims`.
        var comparison = TableComparison()
        /// The claimants, by the columns of their scopes and by the scopes' values.
        var claims: [Set<String>: [Values: Set<Claimant>]] = [:]
        /// The claimants with values that the comparison did not know.
        var unknown: Set<Claimant> = []

        mutating func add(_ claimant: Claimant, _ scope: [String: String]) {
            let values = comparison.values(of: scope)
            scopes[claimant] = Scope(declared: scope, values: values)
            if !comparison.knows(scope) { unknown.insert(claimant) }
            claims[Set(values.keys), default: [:]][values, default: []].insert(claimant)
        }

        mutating func remove(_ claimant: Claimant) {
            guard let values = scopes.removeValue(forKey: claimant)?.values else { return }
            unknown.remove(claimant)
            let columns = Set(values.keys)
            claims[columns]?[values]?.remove(claimant)
            if claims[columns]?[values]?.isEmpty ?? false { claims[columns]?[values] = nil }
            if claims[columns]?.isEmpty ?? false { claims[columns] = nil }
        }
    }

    /// The tables, by name in lower case.
    private var tables: [String: Table] = [:]

    package init() {}

    package mutating func insert(_ claimant: Claimant, table: String, scope: [String: String]) {
        let name = table.lowercased()
        tables[name]?.remove(claimant)
        tables[name, default: Table()].add(claimant, scope)
    }

    package mutating func remove(_ claimant: Claimant, table: String) { tables[table.lowercased()]?.remove(claimant) }

    /// Returns the sets of columns, in lower case, that scopes of a table's rows name.
    package func columns(of table: String) -> [Set<String>] {
        (tables[table.lowercased()]?.claims.keys).map { $0.filter { !$0.isEmpty } } ?? []
    }

    /// Returns the scopes with values that a comparison does not know. It compares them as they are written.
    package mutating func scopes(of table: String, unknownTo comparison: TableComparison) -> [[String: String]] {
        let name = table.lowercased()
        compare(name, by: comparison)
        return tables[name].map { table in table.unknown.compactMap { table.scopes[$0]?.declared } } ?? []
    }

    /// Returns the claimants of rows that may be within the scope.
    ///
    /// - Parameter comparison: the table's comparison of the columns that scopes name.
    package mutating func claimants(
        of table: String, within scope: [String: String], comparedBy comparison: TableComparison = TableComparison()
    ) -> [Claimant] {
        let name = table.lowercased()
        compare(name, by: comparison)
        let values = comparison.values(of: scope)
        return (tables[name]?.claims ?? [:]).flatMap { columns, claims in
            // Sources that mirror one table usually name the same columns. Then at most one of them has this scope.
            if columns.isSubset(of: values.keys) {
                return Array(claims[values.filter { columns.contains($0.key) }] ?? [])
            }
            return claims.filter { $0.key.mayShareRows(with: values) }.flatMap(\.value)
        }
    }

    /// Returns the claimants with exactly this scope.
    package mutating func claimants(
        of table: String, exactly values: [String: ComparedValue], comparedBy comparison: TableComparison
    ) -> Set<Claimant> {
        let name = table.lowercased()
        compare(name, by: comparison)
        return tables[name]?.claims[Set(values.keys)]?[values] ?? []
    }

    /// Rebuilds the claims of a table where the comparison of its columns has changed, and those whose values it knows
    /// now.
    private mutating func compare(_ name: String, by comparison: TableComparison) {
        guard let table = tables[name] else { return }
        let own = comparison.restricted(to: table.claims.keys.reduce(into: []) { $0.formUnion($1) })
        guard own == table.comparison else {
            var rebuilt = Table(comparison: own)
            for (claimant, scope) in table.scopes { rebuilt.add(claimant, scope.declared) }
            tables[name] = rebuilt
            return
        }
        guard !table.unknown.isEmpty else { return }
        tables[name]?.comparison = own
        for claimant in table.unknown {
            guard let scope = table.scopes[claimant]?.declared, own.knows(scope) else { continue }
            tables[name]?.remove(claimant)
            tables[name]?.add(claimant, scope)
        }
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
