import FeedModel
import FeedStores
import PostgresClient

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

    func requests(of table: String, within scope: [String: String]) throws -> [RequestID] {
        index.requests(of: table, within: scope, comparedBy: try comparison(of: table, Set(scope.keys)))
    }

    func requests(losing row: MovedRow) throws -> Set<RequestID> {
        index.requests(
            of: row.table, exactly: row.values, comparedBy: try comparison(of: row.table, Set(row.values.keys)))
    }

    func hasRows(_ table: String) throws -> Bool {
        guard let details = try tableDetails.details(of: table, in: connection) else { return false }
        return try connection.execute("SELECT EXISTS (SELECT 1 FROM \(details.sql))")[0].bool(0) == true
    }
}
