import FeedModel
import FeedStores
import Foundation
import PostgresStore
import SQLiteStore
import TestStores
import TestSupport

/// A store of the kind over which the test runs, with one table of a feed's.
enum LedgerFixture {
    typealias Store = any MainStore

    static func with(_ body: (TestStore, Store) async throws -> Void) async throws {
        try await withTemporaryFolder { (folder) async throws in
            try await withTestStore(in: folder) { (tables) async throws in
                let store = try open(tables)
                try await body(tables, store)
                try store.close()
            }
        }
    }

    static func open(_ tables: TestStore) throws -> Store {
        let schema = "CREATE TABLE IF NOT EXISTS item (id text PRIMARY KEY)"
        guard let url = tables.url else { return try SQLiteStore(path: tables.path, schema: schema) }
        return try PostgresStore(url: url, workFolder: tables.workFolder, schema: schema)
    }
}

extension Commit {
    /// A commit of a source's run, with the requests as they are after it.
    static func of(
        _ source: String, _ requests: [RequestState] = [], outcome: RunOutcome = .unchanged, forgotten: [String] = []
    ) -> Commit {
        Commit(
            report: RunReport(source: source, outcome: outcome, startedAt: Date(timeIntervalSince1970: 1_900_000_000)),
            requests: requests, state: SourceState(source: source, outcome: outcome), forgottenKeys: forgotten)
    }
}

func request(
    _ key: String = "1", etag: String? = nil, tables: Set<String> = ["item"], scope: [String: String] = [:]
) -> RequestState {
    RequestState(
        key: key, validators: Validators(etag: etag), fingerprint: "f", tables: tables, sync: .mirror, scope: scope)
}
