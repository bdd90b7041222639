import FeedStores
package import FeedModel
import FeedStaging
import GRDB
package import Ledger
import Locking

/// Tributary's own tables, and reads of feeds' tables that go with them.
extension SQLiteStore: LedgerStore {
    package func readLedger<Value>(_ body: (Ledger) throws -> Value) throws -> Value {
        try reading { try pool.read { try body(ledger($0)) } }
    }

    package func writeLedger<Value>(_ body: (Ledger) throws -> Value) throws -> Value {
        try writing { try pool.write { try body(ledger($0)) } }
    }

    package func writeLedgerInGroup(_ body: @escaping @Sendable (Ledger) throws -> Void) async throws {
        try await writeInGroup { [self] in try body(ledger($0)) }
    }

    package func states(of source: String) throws -> (source: SourceState, requests: [String: RequestState]) {
        // One statement on a separate connection: a transaction and a place in the pool would each double its cost.
        try reading {
            try states.unsafeRead { db in
                try db.ledger.sources.states(of: source) { try tableInfos.stands($0.schema, of: $0.tables, in: db) }
            }
        }
    }

    /// Returns how a table compares the columns of a scope.
    package func comparison(of table: String, columns: Set<String>) throws -> TableComparison {
        try reading { try states.unsafeRead { try tableInfos.comparison(of: table, columns: columns, in: $0) } }
    }

    /// Returns the value of an SQL expression over the rows of a table, within a scope; nil for NULL.
    package func value(of expression: String, in table: String, scope: [String: String]) throws -> String? {
        let conditions = scope.sorted { $0.key < $1.key }.map { "\($0.key.sqlIdentifier) = \($0.value.sqlLiteral)" }
        let filter = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
        do {
            return try pool.read {
                try String.fetchOne($0, sql: "SELECT \(expression) FROM \(table.sqlIdentifier)\(filter)")
            }
        } catch let error as DatabaseError {
            throw StoreError(.schema, "${last:\(expression)} of table '\(table)': \(error.message ?? "\(error)")")
        }
    }

    package func holdHook(_ name: String) throws -> Bool {
        try hookLocks.withLock { locks in
            if locks[name] != nil { return true }
            guard let lock = try RunLock(hook: name, storePath: path) else { return false }
            locks[name] = lock
            return true
        }
    }

    package func releaseHook(_ name: String) throws {
        hookLocks.withLock { $0.removeValue(forKey: name) }?.unlock()
    }
}
