import FeedModel
import Foundation
import GRDB
import GRDBSQLite
import TestSupport
import Testing

@testable import FeedStaging
@testable import FeedStores
@testable import SQLiteStore

/// A copy that takes the store's place, and values that SQLite does not take.
@Suite struct StoreCopyTests {
    private struct Item: FeedRecord {
        static let tableName = "item"
        var id: String
        var name: String?
    }

    private static let schema = "CREATE TABLE IF NOT EXISTS item (id TEXT PRIMARY KEY, name TEXT)"

    /// A store whose log was moved away lacks its last commits.
    @Test func aReplacementThatFailsLeavesTheLog() async throws {
        try await withTemporaryFolder { folder in
            let copy = folder.file("copy.sqlite")
            let path = folder.file("store.sqlite")
            let store = try SQLiteStore(path: path, schema: Self.schema)
            try store.copy(nil, to: copy)
            try store.pool.writeWithoutTransaction { try $0.execute(sql: "INSERT INTO item VALUES ('a', 'b')") }
            // As after a crash: the log has what the file has not.
            try FileManager.default.copyItem(atPath: path, toPath: folder.file("crashed.sqlite"))
            try FileManager.default.copyItem(atPath: path + "-wal", toPath: folder.file("crashed.sqlite-wal"))
            try store.close()
            try folder.write("in the way", to: "aside")
            let error = #expect(throws: StoreError.self) {
                try StoreCopy(path: copy, registerMigrations: { _ in })
                    .replace(store: folder.file("crashed.sqlite"), aside: folder.file("aside"))
            }
            #expect(error?.message.contains("cannot be replaced: File exists") == true, "\(error?.message ?? "")")
            let rows = try DatabaseQueue(path: folder.file("crashed.sqlite")).read {
                try String.fetchAll($0, sql: "SELECT id FROM item")
            }
            #expect(rows == ["a"])
        }
    }

    /// It would be NULL in its place.
    @Test(arguments: [false, true]) func aValueThatSQLiteDoesNotTake(isBlob: Bool) async throws {
        try await withTemporaryFolder { folder in
            let store = try SQLiteStore(path: folder.file("store.sqlite"), schema: Self.schema)
            let context = store.makeWorkerContext(source: "s")
            defer { context.remove() }
            context.beginRequest(0, rule: MergeRule())
            let long = String(repeating: "x", count: 20_000)
            try context.insert(
                into: "item", ["id": "a", "name": isBlob ? Data(long.utf8) as any DatabaseValueConvertible : long])
            let stack = try context.finish()
            let commit = Commit(
                report: RunReport(source: "s", outcome: .committed, startedAt: Date()), requests: [],
                state: SourceState(source: "s", outcome: .committed))
            let error = #expect(throws: StoreError.self) {
                try store.pool.writeWithoutTransaction { db in
                    let limit = sqlite3_limit(db.sqliteConnection, SQLITE_LIMIT_LENGTH, 10_000)
                    defer { sqlite3_limit(db.sqliteConnection, SQLITE_LIMIT_LENGTH, limit) }
                    _ = try store.commit(commit, merging: stack, seconds: { 0 }, on: db)
                }
            }
            #expect(error?.code == .limit)
            #expect(
                error?.message.contains("a value of column 'name' of table 'item' has more than 10000 bytes") == true,
                "\(error?.message ?? "")")
            try store.close()
        }
    }
}
