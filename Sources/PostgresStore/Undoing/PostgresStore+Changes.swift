package import FeedModel
import FeedStaging
package import FeedStores
package import Foundation
import Ledger
import Merging
import PostgresClient

extension PostgresStore {
    package func changes(_ query: ChangeQuery, _ body: (RowChange) throws -> Void) throws {
        try readHistories { try RowChanges($0, $1).report(query, body) }
    }

    package func withImages(
        _ changes: [ChangelogEntry], of run: Int64, keys: [String: [String]]
    ) throws -> [ChangelogEntry] {
        try readHistories { try RowChanges($0, $1, isTyped: true).withImages(changes, of: run, keys: keys) }
    }

    /// Reads all of it as it is at one moment.
    private func readHistories<Value>(_ body: (PostgresHistories, Ledger) throws -> Value) throws -> Value {
        do {
            return try connections.withConnection { connection in
                try connection.inTransaction(.repeatableRead, isReadOnly: true) {
                    try body(
                        PostgresHistories(connection: connection, tables: MergeTables(connection, tableDetails)),
                        connection.ledger())
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
