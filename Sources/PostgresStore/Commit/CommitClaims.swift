import FeedModel
import PostgresClient

import FeedStaging
import FeedStores

/// What one commit asks of the requests that have written each table.
struct CommitClaims: ClaimIndex {
    let index: RequestIndex
    let tableDetails: TableDetailsCache
    let connection: PostgresConnection

    init(_ store: PostgresStore, _ connection: PostgresConnection) {
        index = store.requestIndex
        tableDetails = store.tableDetails
        self.connection = connection
    }

    func scopeColumns(of table: String) -> [Set<String>] { index.scopeColumns(of: table) }

    func comparison(of table: String, _ columns: Set<String>) throws -> TableComparison {
        let columns = Set(columns.map { $0.lowercased() })
        return try tableDetails.comparison(
            of: table, columns: index.scopeColumns(of: table).reduce(into: columns) { $0.formUnion($1) },
            in: connection)
    }

    /// Returns the requests whose last commit wrote rows of the table within the scope.
    func requests(of table: String, within scope: [String: String]) throws -> [RequestID] {
        index.requests(of: table, within: scope, comparedBy: try comparison(of: table, Set(scope.keys)))
    }

    func requests(losing row: MovedRow) throws -> Set<RequestID> {
        index.requests(
            of: row.table, exactly: row.values, comparedBy: try comparison(of: row.table, Set(row.values.keys)))
    }

    /// Returns the requests that have written some of the rows that a stack mirrors.
    ///
    /// - Parameters:
    ///   - source: the source of the stack.
    ///   - check: called with the requests of other sources.
    /// - Throws: the error of `check`.
    func rivals(of source: String, _ mirrored: Set<MirroredRows>, check: Commit.MirrorCheck?) throws -> Set<RequestID> {
        try mirrored.reduce(into: []) { all, rows in
            let rivals = try requests(of: rows.table, within: rows.scope)
            try check?(
                rows, rivals.filter { $0.source != source }, try comparison(of: rows.table, Set(rows.scope.keys)))
            all.formUnion(rivals)
        }
    }

    /// Returns the requests that have written tables which are empty now, and which the stack will fill. The rows of
    /// these requests have been deleted, and once the stack is merged the tables no longer show it.
    func bereft(by stack: StagedStack) throws -> Set<RequestID> {
        let filling = Set(stack.parts.filter { $0.counts.rows > 0 }.map(\.table.table.name))
        return try filling.reduce(into: []) { bereft, table in
            let hasRows = try connection.execute("SELECT EXISTS (SELECT 1 FROM \(table.postgresIdentifier))")[0].bool(0)
            if hasRows == false { bereft.formUnion(try requests(of: table, within: [:])) }
        }
    }
}
