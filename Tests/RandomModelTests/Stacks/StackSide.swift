import FeedModel
import FeedParsing
import FeedStores
import Foundation
import Logging
import TestStores
import TestSupport
import TributaryEngine
import TributaryStores

@testable import FeedConfiguration

/// One store in which a ``RandomStack`` is played, with what it holds as text.
struct StackSide: Sendable {
    let kind: StoreKind
    let store: TestStore
    let folder: TemporaryFolder
    let stack: RandomStack
    let url: String
    let clock: ManualClock

    static func with<Value>(
        _ kind: StoreKind, _ stack: RandomStack, url: String, _ clock: ManualClock,
        _ body: (StackSide) async throws -> Value
    ) async throws -> Value {
        try await withTemporaryFolder { folder in
            try await StoreKind.$current.withValue(kind) {
                try await withTestStore(in: folder) { store in
                    try folder.write(stack.schema(for: kind), to: "schema.sql")
                    return try await body(
                        StackSide(kind: kind, store: store, folder: folder, stack: stack, url: url, clock: clock))
                }
            }
        }
    }

    func configuration() throws -> TributaryConfiguration {
        let text = store.declaration + "schema = \"schema.sql\"\n" + stack.toml(url: url)
        return try TributaryConfiguration(
            file: folder.write(text, to: "sources.toml"), parsers: ParserRegistry([]), environment: [:])
    }

    // MARK: - Commands

    func sync(_ mode: RefreshMode = .force) async throws -> RunReport {
        try await withService { service, _ in try await service.sync([], mode: mode)[0] }
    }

    func replay() async throws -> RunReport {
        try await withService { service, source in try await service.replay(source) }
    }

    func plan() async throws -> MergeCounts {
        try await withService { service, source in try await service.plan(source) { _ in }.counts }
    }

    /// Brings the rows back to what they were after a run, and lets the source go on.
    func undo(to run: Int64) async throws {
        guard let store = try configuration().openExistingStore(isWritten: true) else { return }
        defer { try? store.close() }
        _ = try await UndoRun("s", to: .run(run), in: store).run()
        _ = try store.write { try $0.sources.resume(["s"]) }
    }

    func move(to other: StackSide) async throws {
        let from = try configuration()
        let to = try from.moved(to: other.configuration().store, schema: other.folder.file("schema.sql"))
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        _ = try from.moveStore(to: to, parsers: ParserRegistry([]), stop: Stop())
                    })
            }
        }
    }

    private func withService<Value>(
        _ body: (SyncService, SourceDeclaration) async throws -> Value
    ) async throws -> Value {
        let configuration = try configuration()
        let service = try SyncService(
            configuration: configuration, parsers: ParserRegistry([]),
            logger: Logger(label: "model") { _ in SwiftLogNoOpLogHandler() }, clock: clock)
        defer { try? service.close() }
        guard let source = configuration[source: "s"] else { throw StackPlayer.Failure("there is no source") }
        return try await body(service, source)
    }

    // MARK: - What it holds

    /// The number of the last run.
    func lastRun() throws -> Int64 { Int64(try store.rows("SELECT coalesce(max(id), 0) FROM tributary_run")[0]) ?? 0 }

    /// Every row of every table, keys that the store has made included.
    func dump() throws -> [String] { try store.dump().sorted() }

    /// The rows by what the documents say of them: without keys that the store has made.
    func canonicalRows() throws -> [String] {
        let key = stack.keyColumns.map { "r.\($0)" }.joined(separator: ", ")
        let columns = [
            stack.second == .otherScope ? "r.region" : "NULL", "r.name", "r.amount", "r.seen",
            stack.reference == .absent ? "NULL" : "m.name", stack.second == .otherColumns ? "r.extra" : "NULL",
            stack.isSoft ? "r.gone_at IS NOT NULL" : "1 = 0",
        ]
        let makers = stack.reference == .absent ? "" : " LEFT JOIN maker m ON m.id = r.maker"
        var lines = try store.rows("SELECT \(key), \(columns.joined(separator: ", ")) FROM root r\(makers)").map {
            canonical($0, times: [stack.keyColumns.count + 3])
        }
        if stack.lines != .absent {
            let value = [.numbered: "l.number, ", .coded: "l.code, "][stack.lines] ?? ""
            let parent = stack.key == .generated ? "number" : "id"
            lines += try store.rows(
                "SELECT r.id, \(value)l.text FROM line l LEFT JOIN root r ON r.\(parent) = l.root"
            ).map { "line \(canonical($0, times: []))" }
        }
        if stack.hasTree {
            lines += try store.rows(
                """
                WITH RECURSIVE t (code, path) AS (
                    SELECT code, name FROM node WHERE parent IS NULL
                    UNION ALL SELECT n.code, t.path || '/' || n.name FROM node n JOIN t ON n.parent = t.code)
                SELECT path FROM t
                """
            ).map { "node \($0)" }
        }
        if stack.reference != .absent {
            lines += try store.rows("SELECT name, city FROM maker").map { "maker \($0)" }
        }
        return lines.sorted(by: Self.precedes)
    }

    private func canonical(_ row: String, times: [Int]) -> String {
        var fields = row.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
        fields[0] = ExpectedRows.canonicalKey(fields[0], 0, stack).replacing("|0", with: "")
        for index in times { fields[index] = ExpectedRows.canonicalTime(fields[index]) }
        return fields.joined(separator: "|")
    }

    /// What the changelog says of the runs after one, by table and operation.
    func changes(after run: Int64) throws -> [String: Int] {
        let rows = try store.rows(
            "SELECT operation, count(*) FROM tributary_change WHERE run > \(run) GROUP BY operation")
        return rows.reduce(into: [:]) { counts, row in
            let fields = row.split(separator: "|")
            counts[String(fields[0])] = Int(fields[1])
        }
    }

    static func precedes(_ left: String, _ right: String) -> Bool {
        left.unicodeScalars.lexicographicallyPrecedes(right.unicodeScalars)
    }
}

extension ExpectedRows {
    /// The rows as ``StackSide/canonicalRows()`` writes them.
    func canonicalRows(of stack: RandomStack) -> [String] {
        var lines: [String] = []
        for row in rows.values {
            let fields = [
                row.key, row.region, row.name, row.amount, row.seen?.formatted(.iso8601), row.maker, row.extra,
                row.isMarked ? "1" : "0",
            ]
            lines.append(fields.map { $0 ?? "NULL" }.joined(separator: "|"))
            lines += row.lines.map { "line \(row.key)|\($0)" }
        }
        lines += paths.map { "node \($0)" }
        lines += makers.map { "maker \($0)|\($1)" }
        return lines.sorted(by: StackSide.precedes)
    }
}
