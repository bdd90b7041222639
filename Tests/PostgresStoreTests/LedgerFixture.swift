import FeedModel
import Foundation
@testable import PostgresStore
import PostgresServer

@testable import FeedStaging
@testable import FeedStores

extension TestDatabase {
    func openStore(
        schema: String? = nil, connections: Int = PostgresStore.defaultConnections
    ) throws -> PostgresStore {
        try PostgresStore(url: connectionString, workFolder: "/tmp", schema: schema, connections: connections)
    }

    /// The rows of a query, with `|` between their columns.
    func rows(_ sql: String) throws -> [String] {
        try connect().execute(sql).map { row in
            (0..<row.columnCount).map { row.string($0) ?? "NULL" }.joined(separator: "|")
        }
    }

    /// Ends every other session of the database.
    func terminateOthers() throws {
        try connect().execute(
            """
            SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """)
    }
}

extension TestDatabase {
    struct NoWait: Error {}

    /// Returns once a session waits for a lock.
    func waitForWaiting() async throws {
        try await onThread {
            let observer = try connect()
            // Of this database: other tests' sessions wait, too.
            let waiting = """
                SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
                """
            let deadline = ContinuousClock.now + .seconds(120)
            while try observer.execute(waiting).isEmpty {
                guard ContinuousClock.now < deadline else { throw NoWait() }
                usleep(1_000)
            }
        }
    }
}

extension StagedStack {
    /// A stack without rows.
    static let empty = StagedStack(path: nil, parts: [])
}

extension Commit {
    /// A commit of a source's run, with the requests as they are after it.
    static func of(
        _ source: String, _ requests: [RequestState] = [], outcome: RunOutcome = .unchanged, forgotten: [String] = [],
        mirrors: [MirroredRows] = []
    ) -> Commit {
        Commit(
            report: RunReport(source: source, outcome: outcome, startedAt: Date(timeIntervalSince1970: 1_900_000_000)),
            requests: requests, state: SourceState(source: source, outcome: outcome), mirrors: mirrors,
            forgottenKeys: forgotten)
    }
}

func request(
    _ key: String = "1", etag: String? = nil, tables: Set<String> = ["item"], scope: [String: String] = [:]
) -> RequestState {
    RequestState(
        key: key, validators: Validators(etag: etag), fingerprint: "f", tables: tables, sync: .mirror, scope: scope)
}

/// Runs a body on a thread of its own, as it may block.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
}

/// The error that a body throws, in its own words; nil for none.
func message(of body: () throws -> Void) -> String? {
    do { try body() } catch { return "\(error)" }
    return nil
}

func message(of body: () async throws -> Void) async -> String? {
    do { try await body() } catch { return "\(error)" }
    return nil
}
