package import FeedModel
package import FeedStaging
package import FeedStores
import Foundation

/// The requirements of a main store that need no SQL.
extension PostgresStore: MainStore {
    package var name: String { description }

    /// The claim of a run that is planned in a space of its own, which needs no lock.
    private struct PlanClaim: SourceClaim {
        func check() {}
        func unlock() {}
    }

    package func claim(_ source: String, at origin: String?) throws -> (any SourceClaim)? {
        if planning != nil { return PlanClaim() }
        try scratch.make()
        guard let lease = try lease(of: source, at: origin) else { return nil }
        leaseKeeper.keep(self)
        return lease
    }

    package func claimed(among sources: [String]) throws -> Set<String> {
        try Set(runners().keys).intersection(sources)
    }

    package func makeWorkerContext(source: String) -> WorkerContext { WorkerContext(store: self, source: source) }

    /// Does nothing: a connection that is lost is an error of the run that uses it, and the next run has another.
    package func checkPlace() {}

    /// Does nothing: the server keeps its files in order by itself.
    package func tidy() {}

    package var workFolder: String { scratch.path }

    /// Removes the scratch databases of processes that are gone. Those of processes that live are kept.
    package func removeAbandonedScratch() throws { try WorkFolder.removeAbandoned(in: scratch.parent) }
}

/// The checks of a store's health.
extension PostgresStore {
    /// Asks the server whether it lets this session write. A disk that is full stops the server itself.
    package func probe() throws {
        let why: String? = try ask { connection in
            let row = try connection.execute(
                "SELECT pg_is_in_recovery(), current_setting('transaction_read_only')::boolean")[0]
            if try row.bool(0) != false { return "its server is a standby, which is read-only" }
            if try row.bool(1) != false {
                return
                    "the session is read-only; see default_transaction_read_only of the role, the database and the server"
            }
            return nil
        }
        guard let why else { return }
        // A session keeps the settings with which it began.
        connections.forgetIdle()
        throw StoreError(.database, "the store \(description) cannot be written: \(why)")
    }

    /// The bytes of the database.
    package func size() throws -> Int64 {
        try ask { try $0.execute("SELECT pg_database_size(current_database())")[0].int64(0) ?? 0 }
    }

}

/// Tributary's own tables, and reads of feeds' tables that go with them.
extension PostgresStore {
    package func read<Value>(_ body: (Ledger) throws -> Value) throws -> Value {
        try ask { try body($0.ledger(leases)) }
    }

    package func write<Value>(_ body: (Ledger) throws -> Value) throws -> Value {
        try transact { try body($0.ledger(leases)) }
    }

    package func writeInGroup(_ body: @escaping @Sendable (Ledger) throws -> Void) async throws {
        try await transactInGroup { [leases] connection in
            try body(connection.ledger(leases))
            return nil
        }
    }

    package func states(of source: String) throws -> (source: SourceState, requests: [String: RequestState]) {
        let start = ContinuousClock.now
        return try ask { connection in
            try connection.ledger().sources.states(of: source) {
                try tableDetails.stands($0.schema, of: $0.tables, since: start, in: connection)
            }
        }
    }

    /// Returns the value of an SQL expression over the rows of a table, within a scope; nil for NULL.
    package func value(of expression: String, in table: String, scope: [String: String]) throws -> String? {
        let stored = try ask { try details(of: table, $0) }
        let conditions = scope.sorted { $0.key < $1.key }.map { entry in
            "\((stored.column(entry.key)?.name ?? entry.key).postgresIdentifier) = \(entry.value.postgresLiteral)"
        }
        let filter = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
        let subject = "${last:\(expression)} of table '\(table)'"
        return try askForRows(subject) { connection, settings in
            // In a plan, the table may be another one than that of the question before.
            let details = try planning == nil ? stored : details(of: table, connection)
            do {
                return try connection.inDiscardedTransaction(isReadOnly: true, settings: settings) {
                    let row = try connection.execute("SELECT \(expression) FROM \(details.sql)\(filter)").first
                    return try row?.storedText(0, type: row?.columnTypes[0] ?? 0)
                }
            } catch let error as PostgresError where !error.isTransient || error.state == .readOnlyTransaction {
                throw StoreError(.schema, "\(subject): \(error.finding.text)", help: error.finding.help)
            }
        }
    }
}
