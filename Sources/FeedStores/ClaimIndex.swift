package import FeedModel
package import FeedStaging

/// The claims of the requests that have written each table, for a commit inside its transaction.
package protocol ClaimIndex {
    /// Returns the column sets of all scopes that requests have on a table, in lower case.
    func scopeColumns(of table: String) throws -> [Set<String>]

    /// Returns how a table compares these columns, and those named by these scopes and by the scopes of requests that
    /// have written it.
    func comparison(of table: String, _ columns: Set<String>, scopes: [[String: String]]) throws -> TableComparison

    /// Returns the requests whose last commit wrote rows of the table within the scope.
    func requests(of table: String, within scope: [String: String]) throws -> [RequestID]

    /// Returns the requests whose scope a row has left.
    func requests(losing row: ScopeExit) throws -> Set<RequestID>

    func hasRows(_ table: String) throws -> Bool
}

extension ClaimIndex {
    /// Returns the requests that have written some of the rows that a stack mirrors.
    ///
    /// - Parameters:
    ///   - source: the source of the stack.
    ///   - check: called with the requests of other sources.
    /// - Throws: the error of `check`.
    package func overlappingRequests(
        of source: String, _ mirrored: Set<MirroredRows>, check: Commit.MirrorCheck?
    ) throws -> Set<RequestID> {
        try mirrored.reduce(into: []) { all, rows in
            let overlapping = try requests(of: rows.table, within: rows.scope)
            try check?(
                rows, overlapping.filter { $0.source != source },
                try comparison(of: rows.table, [], scopes: [rows.scope]))
            all.formUnion(overlapping)
        }
    }

    /// Returns the requests that have written tables which are empty now, and which the stack will fill. The rows of
    /// these requests have been deleted, and once the stack is merged the tables no longer show it.
    package func writersOfEmptiedTables(filledBy stack: StagedStack) throws -> Set<RequestID> {
        let filling = Set(stack.parts.filter { $0.counts.rows > 0 }.map(\.table.table.name))
        return try filling.reduce(into: []) { writers, table in
            if try !hasRows(table) { writers.formUnion(try requests(of: table, within: [:])) }
        }
    }
}
