import FeedModel
import FeedStaging
package import FeedStores
package import Foundation
import Ledger
import Merging
import PostgresClient

extension PostgresStore {
    package func changes(_ query: ChangeQuery, _ body: (RowChange) throws -> Void) throws {
        do {
            try connections.withConnection { connection in
                // All of it is read as it is at one moment.
                try connection.inTransaction(.repeatableRead, isReadOnly: true) {
                    let histories = PostgresHistories(
                        connection: connection, tables: MergeTables(connection, tableDetails))
                    try RowChanges(histories, connection.ledger()).report(query, body)
                }
            }
        } catch let error as PostgresError {
            throw StoreError(reading: error, store: description)
        }
    }

    /// Deletes runs that began before a date, with all that is kept of them, and histories that have ended and are empty.
    ///
    /// - Returns: true if there may be more.
    /// - Throws: ``StoreError``
    package func forgetRuns(before date: Date) throws -> Bool {
        try write { try PostgresHistories(connection: $0).forgetRuns(before: date, $0.ledger().retention) }
    }

    package func historyProblem(of table: String) -> String? { PostgresHistories.problem(ofKeeping: table) }
}
