package import FeedModel
import FeedStaging

/// Watches a commit for rows that leave the scopes of requests' claims. The request that wrote such a row still
/// claims it, and must be sent again if the row is deleted as another request's.
package final class ClaimWatch {
    private let claims: CommitClaims
    private var moved: Set<ScopeExit> = []
    /// The columns of the stack's own scopes, by their tables.
    private var stackColumns: [String: Set<Set<String>>]?

    package init(_ claims: CommitClaims) { self.claims = claims }

    /// Returns the sets of columns by which scopes tell rows of a table apart, and of which an update writes some.
    ///
    /// - Returns: the names in lower case and in order.
    func columns(writtenBy table: StagingTable, of stack: StagedStack) throws -> [[String]] {
        let written = Set(table.valueColumns.map { $0.lowercased() })
        guard !written.isEmpty else { return [] }
        if stackColumns == nil {
            stackColumns = stack.parts.reduce(into: [:]) { columns, part in
                columns[part.table.table.name, default: []].insert(Set(part.table.scope.keys.map { $0.lowercased() }))
            }
        }
        let own = stackColumns?[table.table.name] ?? []
        return try own.union(claims.columns(of: table.table.name)).filter { !$0.isDisjoint(with: written) }.map {
            $0.sorted()
        }
    }

    func comparison(of table: String, _ columns: Set<String>) throws -> TableComparison {
        try claims.comparison(of: table, columns)
    }

    /// Notes the former values of a row's columns.
    ///
    /// - Parameter values: as the table compares them; nil for NULL.
    func note(_ columns: [String], _ values: [ComparedValue?], of table: String) {
        var row = ScopeExit(table: table, values: [:])
        for (column, value) in zip(columns, values) {
            // A NULL is in no scope.
            guard let value else { return }
            row.values[column] = value
        }
        moved.insert(row)
    }

    /// Widens the claims of requests whose rows have left their scopes, or never were in them. Such requests then claim
    /// everything in their tables.
    ///
    /// - Parameter commit: the states of its own requests are changed.
    /// - Returns: the affected requests that are not part of the commit; their states are in the store.
    package func widen(_ commit: inout Commit, outOfScope rows: Set<MirroredRows>) throws -> Set<RequestID> {
        commit.widenScopes(of: rows)
        guard !moved.isEmpty else { return [] }
        for position in commit.requests.indices where !commit.requests[position].scope.isEmpty {
            let request = commit.requests[position]
            let hasLost = try request.tables.contains { table in
                let comparison = try claims.comparison(of: table, scopes: [request.scope])
                return moved.contains(ScopeExit(table: table, values: comparison.values(of: request.scope)))
            }
            if hasLost { commit.requests[position].scope = [:] }
        }
        let own = Set(commit.requests.map { RequestID(source: commit.report.source, key: $0.key) })
        var others: Set<RequestID> = []
        for row in moved { others.formUnion(try claims.requests(of: row.table, exactly: row.values)) }
        return others.subtracting(own)
    }
}

/// A row that a commit has moved out of a scope: its former values in the scope's columns.
private struct ScopeExit: Hashable {
    var table: String
    /// By the columns' names in lower case.
    var values: [String: ComparedValue]
}
