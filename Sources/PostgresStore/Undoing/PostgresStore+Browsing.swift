import FeedModel
import FeedStores
package import Merging
import PostgresClient

/// Rows for those who look at them, in transactions in which the server refuses to write.
extension PostgresStore: BrowsingStore {
    package func browse<Value>(within limit: Duration?, _ body: (TableReader) throws -> Value) throws -> Value {
        let milliseconds = limit.map { max(1, Int($0 / .milliseconds(1))) }
        let settings = milliseconds.map { [(name: "statement_timeout", value: "\($0)")] } ?? []
        do {
            return try connections.withConnection { connection in
                try connection.inTransaction(.repeatableRead, isReadOnly: true, settings: settings) {
                    // Somebody may have changed a table since the last run.
                    try tableDetails.renew(nil, connection)
                    let tables = MergeTables(connection, tableDetails)
                    return try body(
                        TableReader(PostgresHistories(connection: connection, tables: tables), connection.ledger()))
                }
            }
        } catch let error as PostgresError {
            if let limit, error.state == .queryCanceled { throw RowQuery.Problem.late(after: limit) }
            // A value that is none of the column's type, or a type without an order.
            let refused: Set<Substring> = ["22", "42"]
            let isRefused = error.state.map { refused.contains($0.classCode) && $0 != .insufficientPrivilege } == true
            if limit != nil, error.kind == .value || isRefused {
                throw RowQuery.Problem("the store rejects the query: \(error.message)")
            }
            throw StoreError(reading: error, store: description)
        }
    }
}
