import FeedModel
import FeedStores
import GRDB

/// What one commit asks of the requests that have written each table.
struct CommitClaims: ClaimIndex {
    let index: RequestIndex
    /// The writing connection.
    let db: Database

    func scopeColumns(of table: String) throws -> [Set<String>] { try index.scopeColumns(of: table, db) }

    func comparison(of table: String, _ columns: Set<String>) throws -> TableComparison {
        try index.comparison(of: table, columns, db)
    }

    func requests(of table: String, within scope: [String: String]) throws -> [RequestID] {
        try index.requests(of: table, within: scope, db)
    }

    func requests(losing row: MovedRow) throws -> Set<RequestID> { try index.requests(losing: row, db) }

    func hasRows(_ table: String) throws -> Bool { try db.hasRows(table) }
}
