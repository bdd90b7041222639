import FeedModel
import FeedStores
import Foundation
import PostgresStore
import Simulator
import TestStores
import TestSupport

/// A store that several processes share, of the kind over which the test runs: on a server, or in the file on which the
/// daemons of the simulator share one.
struct LeaseFixture {
    /// What one process has of the store.
    struct Member {
        let store: any MainStore
        let leases: any LeaseStore

        func claim(_ source: String) throws -> (any SourceClaim)? { try leases.lease(of: source, at: nil) }

        func close() throws { try store.close() }

        func record(_ name: String, _ groups: [String: String] = [:]) -> DaemonRecord {
            DaemonRecord(
                id: leases.daemonID, name: name, startedAt: Date(timeIntervalSince1970: 1_900_000_000),
                declared: DeclaredSources(groups))
        }
    }

    private static let past = "'2000-01-01T00:00:00.000Z'"

    let tables: TestStore
    private let folder: TemporaryFolder

    /// - Parameter count: the processes that share the store.
    static func with(
        _ count: Int = 2, _ body: (LeaseFixture, [Member]) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { (folder) async throws in
            try await withTestStore(in: folder) { (tables) async throws in
                let fixture = LeaseFixture(tables: tables, folder: folder)
                let members = try (0..<count).map { try fixture.open($0) }
                try await body(fixture, members)
                for member in members { try member.close() }
            }
        }
    }

    private func open(_ number: Int) throws -> Member {
        let workFolder = folder.file("work-\(number)")
        if let url = tables.url {
            let store = try PostgresStore(url: url, workFolder: workFolder)
            return Member(store: store, leases: store)
        }
        let start = ContinuousClock.now
        let shared = try SharedSQLiteStore(
            path: tables.path, workFolder: workFolder, leases: Leases { ContinuousClock.now - start })
        return Member(store: shared.store, leases: shared)
    }

    /// Has the time of every lease on a source be over.
    func endLeases() throws { try tables.execute("UPDATE tributary_source SET held_until = \(Self.past)") }

    /// Has it be long ago that a daemon gave a sign of life.
    func silence(_ name: String) throws {
        try tables.execute("UPDATE tributary_daemon SET seen_at = \(Self.past) WHERE name = '\(name)'")
    }

    /// Has the time of every lease on a hook be over.
    func endHookLeases() throws { try tables.execute("UPDATE tributary_hook SET held_until = \(Self.past)") }
}

func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
}

/// Returns the message of the error that a body throws.
func message(of body: () async throws -> Void) async -> String? {
    do { try await body() } catch { return "\(error)" }
    return nil
}
