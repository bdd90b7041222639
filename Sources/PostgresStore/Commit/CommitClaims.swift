import FeedModel
import FeedStores
import Foundation
import Ledger
import PostgresClient

/// The tables of the store, on the connection of a commit.
struct PostgresClaimedTables: ClaimedTables {
    let tableDetails: TableDetailsCache
    let connection: PostgresConnection

    func comparison(of table: String, columns: Set<String>) throws -> TableComparison {
        try tableDetails.comparison(of: table, columns: columns, in: connection)
    }

    func hasRows(_ table: String) throws -> Bool {
        guard let details = try tableDetails.details(of: table, in: connection) else { return false }
        return try connection.execute("SELECT EXISTS (SELECT 1 FROM \(details.sql))")[0].bool(0) == true
    }
}

extension PostgresStore {
    /// Returns the claims of the requests as they were when the commit has renewed the index.
    func claims(_ connection: PostgresConnection) -> CommitClaims {
        CommitClaims(requestIndex, PostgresClaimedTables(tableDetails: tableDetails, connection: connection))
    }
}
