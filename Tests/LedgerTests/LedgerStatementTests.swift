import FeedModel
import FeedStores
import Foundation
import TestStores
import Testing

/// The number of statements that a commit costs beside those of its rows. Each is a round trip to a server.
@Suite(.onEachStore) struct LedgerStatementTests {
    private func statements(of commit: Commit, in store: LedgerFixture.Store) throws -> [String] {
        try store.write { ledger in
            let session = CountedSession(ledger.session)
            try Ledger(session, ledger.dialect, leases: ledger.leases).write(commit)
            return session.statements
        }
    }

    @Test func aRunWithoutChangesReadsItsRequestsOnce() async throws {
        try await LedgerFixture.with { (tables, store) async throws in
            let requests = ["1", "2", "3"].map { request($0, etag: $0) }
            try await store.record(.of("s", requests))
            var commit = Commit.of("s", requests)
            for request in requests { commit.revalidated[request.key] = request }
            let statements = try statements(of: commit, in: store)
            #expect(statements.count == StoreKind.by(sqlite: 3, postgres: 2), "\(statements)")
            #expect(try tables.rows("SELECT key, etag FROM tributary_request ORDER BY key") == ["1|1", "2|2", "3|3"])
        }
    }

    @Test func aPollThatAnotherRowCountsIsAnUpdateOfTwoRows() async throws {
        try await LedgerFixture.with { (tables, store) async throws in
            var commit = Commit.of("s")
            commit.report.requests = [RequestReport(key: "1", status: 304, outcome: .unchanged)]
            try await store.record(commit)
            commit.report.startedAt += 60
            let statements = try statements(of: commit, in: store)
            #expect(statements.count == StoreKind.by(sqlite: 2, postgres: 1), "\(statements)")
            #expect(try tables.rows("SELECT polls FROM tributary_run") == ["2"])
        }
    }

    /// Claims are written where they are new.
    @Test func changedRequestsAreReadAndWritten() async throws {
        try await LedgerFixture.with { (_, store) async throws in
            let requests = [request("1"), request("2")]
            let first = try statements(of: .of("s", requests), in: store)
            #expect(first.count == StoreKind.by(sqlite: 7, postgres: 4), "\(first)")
            let second = try statements(of: .of("s", requests), in: store)
            #expect(second.count == StoreKind.by(sqlite: 5, postgres: 3), "\(second)")
        }
    }
}

/// A session that keeps what it executes.
private final class CountedSession: SQLSession {
    private let session: any SQLSession
    private(set) var statements: [String] = []

    init(_ session: any SQLSession) { self.session = session }

    func execute(_ sql: SQLText) throws -> Int {
        statements.append(sql.rendered { _, _ in ("?", true) }.text)
        return try session.execute(sql)
    }

    func forEachRow(of sql: SQLText, _ body: (any SQLRow) throws -> Bool) throws {
        statements.append(sql.rendered { _, _ in ("?", true) }.text)
        try session.forEachRow(of: sql, body)
    }
}
