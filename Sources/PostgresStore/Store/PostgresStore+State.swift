import FeedStores
package import FeedModel
import FeedStaging
package import Ledger
import PostgresClient

/// Tributary's own tables, and reads of feeds' tables that go with them.
extension PostgresStore: LedgerStore {
    package func readLedger<Value>(_ body: (Ledger) throws -> Value) throws -> Value {
        try ask { try body($0.ledger(leases)) }
    }

    package func writeLedger<Value>(_ body: (Ledger) throws -> Value) throws -> Value {
        try write { try body($0.ledger(leases)) }
    }

    package func writeLedgerInGroup(_ body: @escaping @Sendable (Ledger) throws -> Void) async throws {
        try await writeInGroup { [leases] connection in
            try body(connection.ledger(leases))
            return nil
        }
    }

    package func states(of source: String) throws -> (source: SourceState, requests: [String: RequestState]) {
        try ask { connection in
            try connection.ledger().sources.states(of: source) {
                try tableDetails.stands($0.schema, of: $0.tables, in: connection)
            }
        }
    }

    /// Returns the value of an SQL expression over the rows of a table, within a scope; nil for NULL.
    package func value(of expression: String, in table: String, scope: [String: String]) throws -> String? {
        let stored = try ask { try details(of: table, $0) }
        let info = stored.info
        let conditions = scope.sorted { $0.key < $1.key }.map { entry in
            "\((info.column(entry.key)?.name ?? entry.key).postgresIdentifier) = \(entry.value.postgresLiteral)"
        }
        let filter = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
        do {
            func value(_ connection: PostgresConnection, of details: TableDetails) throws -> String? {
                let row = try connection.execute("SELECT \(expression) FROM \(details.sql)\(filter)").first
                return try row?.storedText(0, type: row?.columnTypes[0] ?? 0)
            }
            if let planning {
                return try planning.inTransaction(of: self, fills: true) {
                    try value($0, of: details(of: table, $0))
                }
            }
            return try connections.withConnection(attempts: 2) { connection in
                try connection.inTransaction(isReadOnly: true) { try value(connection, of: stored) }
            }
        } catch let error as PostgresError {
            throw StoreError(.schema, "${last:\(expression)} of table '\(table)': \(error.text)")
        }
    }
}
