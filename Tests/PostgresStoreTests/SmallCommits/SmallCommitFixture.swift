import FeedModel
import Foundation
@testable import FeedStores
@testable import PostgresStore
import PostgresServer

@testable import FeedStaging

/// A store whose stacks are committed as small ones, or by the general way.
struct SmallCommitFixture {
    let database: TestDatabase
    let store: PostgresStore

    enum Way {
        /// In two round trips, or not at all.
        case small
        case general
        /// As a program does it.
        case either
    }

    struct NotSmall: Error {}

    static func with(_ schema: String, _ body: (SmallCommitFixture) async throws -> Void) async throws {
        try await withPostgresDatabase { (database) async throws in
            try database.connect().executeScript(schema)
            let store = try database.openStore()
            try await body(SmallCommitFixture(database: database, store: store))
            try store.close()
        }
    }

    /// Stages rows as requests of one stack.
    func stack(_ requests: [(rule: MergeRule, stage: (WorkerContext) throws -> Void)]) throws -> StagedStack {
        try store.renewTableInfos(of: nil)
        let context = WorkerContext(store: store, source: "s")
        defer { context.remove() }
        for (index, request) in requests.enumerated() {
            context.beginRequest(index, rule: request.rule)
            try request.stage(context)
        }
        return try context.finish()
    }

    func stack(_ rule: MergeRule, _ stage: (WorkerContext) throws -> Void) throws -> StagedStack {
        try withoutActuallyEscaping(stage) { try stack([(rule, $0)]) }
    }

    @discardableResult
    func merge(
        _ stack: StagedStack, _ planned: Commit, _ way: Way = .either, seconds: @escaping () -> Double = { 0 }
    ) throws -> RunReport {
        var commit = planned
        // A run knows it from its beginning.
        let known = try database.connect().ledger().sources.states(of: commit.report.source) { _ in true }.requests
        commit.changesClaims = commit.requests.contains { known[$0.key]?.hasClaims(of: $0) != true }
        let small = way == .general ? nil : try? SmallCommit(stack, commit, store, seconds: seconds)
        if way == .small, small == nil { throw NotSmall() }
        let tables = store.knownTables(stack, commit.mirrors, commit.retention)
        return try StackCommit(
            store: store, stop: Stop(), small: small, tables: tables
        ) { transaction in
            if way == .small { throw NotSmall() }
            return try transaction.record(planned, merging: stack, seconds: seconds)
        }.run()
    }

    func rows(_ sql: String) throws -> [String] { try database.rows(sql) }

    func execute(_ sql: String) throws { try database.connect().executeScript(sql) }
}

extension SmallCommitFixture {
    /// A table of which each source mirrors its part.
    static let items = """
        CREATE TABLE item (feed text, id integer, n integer, title text, PRIMARY KEY (feed, id))
        """

    /// Stages items of a feed: their numbers by their ids.
    func items(_ feed: String, _ numbers: KeyValuePairs<Int, Int?>) throws -> StagedStack {
        try stack(MergeRule(sync: .mirror, scope: ["feed": feed])) { context in
            for (id, number) in numbers {
                try context.insert(into: "item", ["feed": feed, "id": id, "n": number, "title": "item \(id)"])
            }
        }
    }

    func commit(_ feed: String, etag: String? = nil) -> Commit {
        .of(
            feed, [request(etag: etag, scope: ["feed": feed])], outcome: .committed,
            mirrors: [MirroredRows(table: "item", scope: ["feed": feed])])
    }

    /// Commits items of a feed.
    @discardableResult
    func merge(_ feed: String, _ numbers: KeyValuePairs<Int, Int?>, _ way: Way = .either) throws -> RunReport {
        try merge(items(feed, numbers), commit(feed), way)
    }
}
