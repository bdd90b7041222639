import FeedModel
import Foundation
import GRDB
@testable import FeedStores
import TestStores
import TestSupport
import Testing

@testable import FeedStaging
@testable import PostgresStore
@testable import SQLiteStore

/// A store of the kind over which the test runs, and stacks to commit to it.
///
/// Every stack is committed to two stores: from memory to one, and by way of a scratch database to the other. Both must
/// end alike.
struct StackFixture {
    typealias Request = (rule: MergeRule, stage: (WorkerContext) throws -> Void)

    private let fromMemory: CommittedStore
    private let fromScratch: CommittedStore
    /// Each commit is undone, and the undo undone: both must leave what was there before.
    private let undone: CommittedStore

    /// - Parameter schema: written as `StoreKind.sql` says.
    static func with(_ schema: String, _ body: (StackFixture) async throws -> Void) async throws {
        try await CommittedStore.with(schema) { (fromMemory) async throws in
            try await CommittedStore.with(schema) { (fromScratch) async throws in
                try await CommittedStore.with(schema) { (undone) async throws in
                    try await body(StackFixture(fromMemory: fromMemory, fromScratch: fromScratch, undone: undone))
                }
            }
        }
    }

    /// The most bytes of all rows and of the changelog for which a commit is undone.
    private static let largestUndone = 4_000

    /// Stages rows as the requests of one stack, and commits them.
    @discardableResult
    func commit(_ requests: [Request], mirrors: [MirroredRows] = []) throws -> MergeCounts {
        let counts = Result { try fromMemory.commit(requests, mirrors, usesScratch: false) }
        let others = Result { try fromScratch.commit(requests, mirrors, usesScratch: true) }
        switch (counts, others) {
        case (.success(let ours), .success(let theirs)): #expect(ours == theirs)
        case (.failure(let ours), .failure(let theirs)): #expect("\(ours)" == "\(theirs)")
        default: Issue.record("from memory: \(counts); from a scratch database: \(others)")
        }
        let (contents, otherContents) = (try fromMemory.contents(), try fromScratch.contents())
        #expect(contents == otherContents)
        if case .success = counts {
            // The widest and longest would take most of the suite's time.
            let isSmall = contents.reduce(0) { $0 + $1.utf8.count } < Self.largestUndone
            do {
                try undone.commitAndUndo(requests, mirrors, undoes: isSmall)
            } catch let error as StoreError where error.code == .history {
                // A table of PostgreSQL's without a key.
                #expect(error.message.contains("cannot be distinguished"))
            }
        }
        return try counts.get()
    }

    @discardableResult
    func commit(_ rule: MergeRule = MergeRule(), _ stage: (WorkerContext) throws -> Void) throws -> MergeCounts {
        try withoutActuallyEscaping(stage) { try commit([(rule, $0)]) }
    }

    func execute(_ sql: String) throws {
        for store in [fromMemory, fromScratch, undone] { try store.tables.execute(sql) }
    }

    func rows(_ sql: String) throws -> [String] { try fromMemory.tables.rows(sql) }

    /// The changelog of the commits after the first.
    func changes() throws -> [String] {
        try rows("SELECT \"table\", key, operation FROM tributary_change WHERE run > 1 ORDER BY 1, 2, 3")
    }
}

/// One of the two stores of a ``StackFixture``.
private struct CommittedStore {
    private enum Kind {
        case file(SQLiteStore)
        case server(PostgresStore)
    }

    let tables: TestStore
    private let kind: Kind
    private var store: any MainStore {
        switch kind {
        case .file(let store): store
        case .server(let store): store
        }
    }

    static func with(_ schema: String, _ body: (CommittedStore) async throws -> Void) async throws {
        try await withTemporaryFolder { (folder) async throws in
            try await withTestStore(in: folder) { (tables) async throws in
                let schema = StoreKind.current.sql(schema)
                let kind =
                    try tables.url.map { url in
                        Kind.server(try PostgresStore(url: url, workFolder: tables.workFolder, schema: schema))
                    } ?? .file(try SQLiteStore(path: tables.path, schema: schema))
                let store = CommittedStore(tables: tables, kind: kind)
                try await body(store)
                try store.store.close()
            }
        }
    }

    /// Commits a stack, brings the rows back to what they were, and then to what the commit has made of them.
    func commitAndUndo(_ requests: [StackFixture.Request], _ mirrors: [MirroredRows], undoes: Bool) throws {
        guard undoes else {
            _ = try commit(requests, mirrors, usesScratch: false)
            return
        }
        let before = try tables.dump()
        let run = try lastRun()
        let counts = try commit(requests, mirrors, usesScratch: false, keepsHistory: true)
        guard counts.inserted + counts.updated + counts.deleted > 0 else { return }
        let committed = try lastRun()
        let after = try tables.dump()
        try undo(to: run)
        let undone = try tables.dump()
        #expect(undone == before)
        try undo(to: committed)
        let redone = try tables.dump()
        #expect(redone == after)
    }

    private func lastRun() throws -> Int64 {
        try store.read { try $0.runs.last(endedBy: .distantFuture) }
    }

    private func undo(to run: Int64) throws {
        var commit = Commit(
            report: RunReport(source: "source", outcome: .committed, startedAt: Date()), requests: [],
            state: SourceState(source: "source", outcome: .committed))
        commit.keepsHistory = true
        let undo = Undo(commit, to: run)
        switch kind {
        case .file(let store):
            _ = try store.pool.writeWithoutTransaction { try store.undo(undo, seconds: { 0 }, on: $0) }
        case .server(let store): _ = try store.undoNow(undo, seconds: { 0 })
        }
    }

    func commit(
        _ requests: [StackFixture.Request], _ mirrors: [MirroredRows], usesScratch: Bool, keepsHistory: Bool = false
    ) throws -> MergeCounts {
        try store.renewTableInfos(of: nil)
        let context = store.makeWorkerContext(source: "source")
        defer { context.remove() }
        for (index, request) in requests.enumerated() {
            context.beginRequest(index, rule: request.rule)
            try request.stage(context)
        }
        if usesScratch { try context.flush() }
        let stack = try context.finish()
        var commit = Commit(
            report: RunReport(source: "source", outcome: .committed, startedAt: Date()), requests: [],
            state: SourceState(source: "source", outcome: .committed), mirrors: mirrors)
        commit.keepsHistory = keepsHistory
        switch kind {
        case .file(let store):
            return try store.pool.writeWithoutTransaction { db in
                try store.commit(commit, merging: stack, seconds: { 0 }, on: db).counts
            }
        case .server(let store): return try store.merge(stack, with: commit).counts
        }
    }

    /// Every table's rows, and the changelog, where a row of PostgreSQL's without a key is named by its place. The order of
    /// one commit's entries is the server's.
    func contents() throws -> [String] {
        let changelog = try tables.rows(
            // A commit that is repeated may leave a number out.
            "SELECT dense_rank() OVER (ORDER BY run), \"table\", key, operation FROM tributary_change")
        return try tables.dump() + changelog.map { $0.replacing(/\(\d+,\d+\)/, with: "place") }.sorted()
    }
}

struct Item: FeedRecord, Equatable {
    var id: String
    var name: String?
    var size: Int?
}
