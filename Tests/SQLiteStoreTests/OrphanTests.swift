import FeedModel
import Foundation
import GRDB
import TestSupport
import Testing

@testable import FeedStaging
@testable import FeedStores
@testable import SQLiteStore

/// Rows without their parents that another program has left in the store's file: most do not enforce foreign keys.
@Suite struct OrphanTests {
    private static let schema = """
        CREATE TABLE p (id TEXT PRIMARY KEY);
        CREATE TABLE aaa_old (id INTEGER PRIMARY KEY, p TEXT REFERENCES p (id));
        CREATE TABLE line (id TEXT PRIMARY KEY, p TEXT REFERENCES p (id));
        """

    private func makeFile(in folder: TemporaryFolder) throws -> String {
        let path = folder.file("store.sqlite")
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { db in
            try db.execute(sql: Self.schema)
            try db.execute(sql: "INSERT INTO aaa_old VALUES (1, 'gone'); INSERT INTO line VALUES ('old', 'gone')")
        }
        try queue.close()
        return path
    }

    @Test func aFileWithThemGetsTheTables() async throws {
        try await withTemporaryFolder { (folder) async throws in
            let path = try makeFile(in: folder)
            let store = try SQLiteStore(path: path)
            #expect(
                try await store.reader.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM line WHERE p = 'gone'") }
                    == 1)
            try store.close()
        }
    }

    /// Staged in memory and in a file: a commit defers the check in both.
    @Test(arguments: [false, true]) func theErrorNamesTheFeedsRow(usesScratch: Bool) async throws {
        try await withTemporaryFolder { (folder) async throws in
            let store = try SQLiteStore(path: makeFile(in: folder))
            let fixture = StoreFixture(store: store, folder: folder)
            func commit(_ stage: (WorkerContext) throws -> Void) throws -> MergeCounts {
                try withoutActuallyEscaping(stage) {
                    try fixture.commit(to: store, usesScratch: usesScratch, "s", [(MergeRule(), $0)])
                }
            }
            var message = ""
            do {
                _ = try commit { context in
                    try context.insert(into: "line", ["id": "new", "p": "nobody"])
                }
            } catch let error as StoreError { message = error.message }
            #expect(
                message == "table 'line': foreign key (p) REFERENCES p(id) has no such row, in the row "
                    + "(id = \"new\", p = \"nobody\")")
            // One that gets another missing parent is the feed's.
            message = ""
            do {
                _ = try commit { context in
                    try context.insert(into: "line", ["id": "old", "p": "nobody"])
                }
            } catch let error as StoreError { message = error.message }
            #expect(message.contains("(id = \"old\", p = \"nobody\")"))
            #expect(try commit { try $0.insert(into: "p", ["id": "gone"]) } == MergeCounts(inserted: 1))
            try store.close()
        }
    }

    /// A parent that is deleted leaves its children, which the feed does not have.
    @Test func theErrorNamesTheRowWhoseParentGoes() async throws {
        try await withTemporaryFolder { (folder) async throws in
            let store = try SQLiteStore(path: makeFile(in: folder))
            let fixture = StoreFixture(store: store, folder: folder)
            let parents = { (ids: [String]) -> (WorkerContext) throws -> Void in
                { context in for id in ids { try context.insert(into: "p", ["id": id]) } }
            }
            for usesScratch in [false, true] {
                _ = try fixture.commit(
                    to: store, usesScratch: usesScratch, "s", [(MergeRule(sync: .mirror), parents(["a", "b"]))])
                try await store.pool.write { try $0.execute(sql: "INSERT OR REPLACE INTO aaa_old VALUES (7, 'b')") }
                var message = ""
                do {
                    _ = try fixture.commit(
                        to: store, usesScratch: usesScratch, "s", [(MergeRule(sync: .mirror), parents(["a"]))])
                } catch let error as StoreError { message = error.message }
                #expect(message.contains("table 'aaa_old'") && message.contains("(id = 7, p = \"b\")"), "\(message)")
            }
            try store.close()
        }
    }
}
