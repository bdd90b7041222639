import FeedStore
import Foundation
import GRDB
import TestSupport

/// A store in a temporary folder, and one-request stacks to commit to it.
struct StoreFixture {
    let store: MainStore
    let folder: TemporaryFolder

    static func with(_ schema: String, _ body: (StoreFixture) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let store = try MainStore(path: folder.file("store.sqlite"), schema: schema)
            try await body(StoreFixture(store: store, folder: folder))
            try store.close()
        }
    }

    /// Stages rows as the requests of one stack, and commits them.
    @discardableResult
    func commit(
        source: String = "source", _ requests: [(rule: MergeRule, stage: (WorkerContext) throws -> Void)],
        emptyMirrors: [(table: String, scope: [String: String])] = []
    ) throws -> MergeCounts {
        let context = try store.makeWorkerContext(source: source)
        defer { context.remove() }
        for (index, request) in requests.enumerated() {
            context.beginRequest(index, rule: request.rule)
            try request.stage(context)
        }
        let stack = try context.finish()
        let report = RunReport(source: source, outcome: .committed, startedAt: Date())
        let commit = Commit(
            report: report, requests: [], state: SourceState(source: source, outcome: .committed),
            emptyMirrors: emptyMirrors, forgetBefore: .distantPast)
        return try store.commit(commit, merging: stack) { 0 }.counts
    }

    @discardableResult
    func commit(_ rule: MergeRule = MergeRule(), _ stage: (WorkerContext) throws -> Void) throws -> MergeCounts {
        try withoutActuallyEscaping(stage) { try commit([(rule, $0)]) }
    }

    func rows(_ sql: String) throws -> [String] {
        try store.reader.read { db in
            try Row.fetchAll(db, sql: sql).map { row in
                row.map { $0.1.isNull ? "NULL" : "\($0.1.storage.value ?? "")" }.joined(separator: "|")
            }
        }
    }
}

func counts(
    inserted: Int = 0, updated: Int = 0, deleted: Int = 0, unchanged: Int = 0, replaced: Int = 0
) -> MergeCounts {
    var counts = MergeCounts()
    counts.inserted = inserted
    counts.updated = updated
    counts.deleted = deleted
    counts.unchanged = unchanged
    counts.replaced = replaced
    return counts
}

struct Item: FeedRecord, Equatable {
    var id: String
    var name: String?
    var size: Int?
}
