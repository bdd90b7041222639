import FeedModel
import FeedStores
import Foundation
import GRDB
import Ledger

/// The tables of the store, on the writing connection.
struct SQLiteClaimedTables: ClaimedTables {
    let tableInfos: TableInfoCache
    let db: Database

    func comparison(of table: String, columns: Set<String>) throws -> TableComparison {
        try tableInfos.comparison(of: table, columns: columns, in: db)
    }

    func hasRows(_ table: String) throws -> Bool { try db.hasRows(table) }
}

extension SQLiteStore {
    /// Returns the claims of the requests in a transaction.
    func claims(_ db: Database) -> CommitClaims {
        CommitClaims(requestIndex, SQLiteClaimedTables(tableInfos: tableInfos, db: db), renewedFrom: db.ledger)
    }
}

extension Database {
    /// Returns the id of the changelog's last row; 0 without one.
    func lastChange() throws -> Int64 { try ledger.changelog.lastID() }
}
