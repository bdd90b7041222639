import FeedModel
import Foundation
@testable import FeedStores
import GRDB
@testable import PostgresStore
import PostgresServer
import Testing
@testable import FeedStaging

/// A database with users' tables, and stacks to merge into it.
///
/// Every stack is merged twice: by way of a scratch database, which is rolled back, and from memory. Both must end
/// alike.
final class MergeFixture {
    typealias Request = (rule: MergeRule, stage: (WorkerContext) throws -> Void)

    let store: PostgresStore
    let connection: PostgresConnection
    private var run: Int64 = 0

    private init(_ database: TestDatabase, _ schema: String, _ folder: String) throws {
        connection = try database.connect()
        store = try PostgresStore(url: database.connectionString, workFolder: folder)
        try connection.executeScript(schema)
    }

    static func with(_ schema: String, _ body: (MergeFixture) async throws -> Void) async throws {
        try await withPostgresDatabase { (database) async throws in
            let folder = FileManager.default.temporaryDirectory.path + "/merge-" + UUID().uuidString
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let fixture = try MergeFixture(database, schema, folder)
            try await body(fixture)
            try fixture.store.close()
        }
    }

    /// Stages rows as the requests of one stack, and merges them.
    @discardableResult
    func commit(_ requests: [Request], mirrors: [MirroredRows] = []) throws -> MergeCounts {
        run += 1
        struct RolledBack: Error {}
        let sequences = try connection.execute(
            "SELECT quote_ident(schemaname) || '.' || quote_ident(sequencename), last_value FROM pg_sequences"
        ).map { ($0.string(0) ?? "", try $0.int64(1)) }
        var twinContents: [String] = []
        let twin = Result {
            var counts = MergeCounts()
            do {
                try connection.inTransaction {
                    counts = try merge(requests, mirrors, usesScratch: true)
                    twinContents = try contents()
                    throw RolledBack()
                }
            } catch is RolledBack {
            }
            return counts
        }
        for (name, last) in sequences {
            try connection.execute(
                last.map { "SELECT setval('\(name)', \($0))" } ?? "ALTER SEQUENCE \(name) RESTART")
        }
        let counts = Result { try connection.inTransaction { try merge(requests, mirrors, usesScratch: false) } }
        switch (counts, twin) {
        case (.success(let ours), .success(let theirs)):
            #expect(ours == theirs)
            let own = try contents()
            #expect(own == twinContents)
        case (.failure(let ours), .failure(let theirs)): #expect("\(ours)" == "\(theirs)")
        default: Issue.record("from memory: \(counts); from a scratch database: \(twin)")
        }
        return try counts.get()
    }

    @discardableResult
    func commit(_ rule: MergeRule = MergeRule(), _ stage: (WorkerContext) throws -> Void) throws -> MergeCounts {
        try withoutActuallyEscaping(stage) { try commit([(rule, $0)]) }
    }

    /// Merges inside the caller's transaction.
    func merge(
        _ requests: [Request], _ mirrors: [MirroredRows] = [], usesScratch: Bool,
        onChange: ((PlannedChange) throws -> Void)? = nil
    ) throws -> MergeCounts {
        try store.renewTableInfos(of: nil)
        let context = WorkerContext(store: store, source: "source")
        defer { context.remove() }
        for (index, request) in requests.enumerated() {
            context.beginRequest(index, rule: request.rule)
            try request.stage(context)
        }
        if usesScratch { try context.flush() }
        let stack = try context.finish()
        let driver = PostgresMergeDriver(connection, store, stack, run: Int64(run))
        try driver.prepare(mirrors)
        try driver.lock(mirrors, Retention())
        return try driver.merge(mirrors: mirrors, onChange: onChange).execute()
    }

    /// Every table's rows; of the changelog what does not depend on the time, nor on a row's place.
    private func contents() throws -> [String] {
        let tables = try connection.execute(
            """
            SELECT oid::regclass::text FROM pg_class WHERE relkind = 'r' AND relname NOT LIKE 'tributary%'
            AND relnamespace = 'public'::regnamespace ORDER BY 1
            """
        ).map { $0.string(0) ?? "" }
        return try tables.flatMap { try rows("SELECT \($0.sqlLiteral), t::text FROM \($0) t ORDER BY 2") }
            + rows(
                """
                SELECT "table", regexp_replace(key, '^\\(.*\\)$', 'ctid'), operation FROM tributary_change
                WHERE run = \(run) ORDER BY id
                """)
    }

    func rows(_ sql: String) throws -> [String] {
        try connection.execute(sql).map { row in
            (0..<row.columnCount).map { row.string($0) ?? "NULL" }.joined(separator: "|")
        }
    }

    func execute(_ sql: String) throws { try connection.executeScript(sql) }

    /// The changelog of the commits after the first.
    func changes(after run: Int = 1) throws -> [String] {
        try rows("SELECT \"table\", key, operation FROM tributary_change WHERE run > \(run) ORDER BY 1, 2, 3")
    }
}

struct Item: FeedRecord, Equatable {
    var id: String
    var name: String?
    var size: Int?
}
