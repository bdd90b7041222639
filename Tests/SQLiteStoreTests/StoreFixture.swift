import FeedModel
import Foundation
import GRDB
import TestSupport
import Testing
@testable import FeedStaging
@testable import FeedStores
@testable import SQLiteStore

/// A store in a temporary folder, and one-request stacks to commit to it.
///
/// Every stack is committed twice: from memory, and by way of a scratch database to a copy of the store. Both must end alike.
struct StoreFixture {
    let store: SQLiteStore
    let folder: TemporaryFolder

    static func with(_ schema: String, _ body: (StoreFixture) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let store = try SQLiteStore(path: folder.file("store.sqlite"), schema: schema)
            try await body(StoreFixture(store: store, folder: folder))
            try store.close()
        }
    }

    /// Stages rows as the requests of one stack, and commits them.
    @discardableResult
    func commit(
        source: String = "source", _ requests: [(rule: MergeRule, stage: (WorkerContext) throws -> Void)],
        mirrors: [MirroredRows] = []
    ) throws -> MergeCounts {
        try store.copy(nil, to: folder.file("twin.sqlite"))
        let twin = try SQLiteStore(path: folder.file("twin.sqlite"))
        defer {
            try? twin.close()
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: twin.path + suffix) }
        }
        let twinCounts = Result { try commit(to: twin, usesScratch: true, source, requests, mirrors) }
        let counts = Result { try commit(to: store, usesScratch: false, source, requests, mirrors) }
        switch (counts, twinCounts) {
        case (.success(let ours), .success(let theirs)): #expect(ours == theirs)
        case (.failure(let ours), .failure(let theirs)): #expect("\(ours)" == "\(theirs)")
        default: Issue.record("from memory: \(counts); from a scratch database: \(twinCounts)")
        }
        #expect(try contents(of: store) == contents(of: twin))
        return try counts.get()
    }

    func commit(
        to store: SQLiteStore, usesScratch: Bool, _ source: String,
        _ requests: [(rule: MergeRule, stage: (WorkerContext) throws -> Void)],
        _ mirrors: [MirroredRows] = []
    ) throws -> MergeCounts {
        let context = store.makeWorkerContext(source: source)
        defer { context.remove() }
        for (index, request) in requests.enumerated() {
            context.beginRequest(index, rule: request.rule)
            try request.stage(context)
        }
        if usesScratch { try context.flush() }
        let stack = try context.finish()
        let report = RunReport(source: source, outcome: .committed, startedAt: Date())
        let commit = Commit(
            report: report, requests: [], state: SourceState(source: source, outcome: .committed),
            mirrors: mirrors)
        return try store.pool.writeWithoutTransaction { db in
            try store.commit(commit, merging: stack, seconds: { 0 }, on: db).counts
        }
    }

    @discardableResult
    func commit(_ rule: MergeRule = MergeRule(), _ stage: (WorkerContext) throws -> Void) throws -> MergeCounts {
        try withoutActuallyEscaping(stage) { try commit([(rule, $0)]) }
    }

    /// Every table's rows but those of runs, which hold the time.
    private func contents(of store: SQLiteStore) throws -> [String: [Row]] {
        try store.reader.read { db in
            let tables = try String.fetchAll(
                db,
                sql: """
                    SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN ('tributary_run', 'sqlite_sequence')
                    ORDER BY name
                    """)
            return try Dictionary(
                uniqueKeysWithValues: tables.map { table in
                    (table, try Row.fetchAll(db, sql: "SELECT * FROM \(table.sqlIdentifier)"))
                })
        }
    }

    func rows(_ sql: String) throws -> [String] {
        try store.reader.read { db in
            try Row.fetchAll(db, sql: sql).map { row in
                row.map { $0.1.isNull ? "NULL" : "\($0.1.storage.value ?? "")" }.joined(separator: "|")
            }
        }
    }
}

struct Item: FeedRecord, Equatable {
    var id: String
    var name: String?
    var size: Int?
}
