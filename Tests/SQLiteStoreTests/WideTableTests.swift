import FeedModel
import GRDB
import Testing
@testable import FeedStaging
@testable import FeedStores
@testable import SQLiteStore

/// Tables with nearly as many columns as SQLite allows.
@Suite struct WideTableTests {
    private struct Wide: EncodableRecord, TableRecord {
        static let databaseTableName = "wide"
        var columns: [String]
        var value: Int
        var key: Int

        func encode(to container: inout PersistenceContainer) {
            for column in columns { container[column] = column.hasPrefix("k") ? key : value }
        }
    }

    private func names(_ prefix: String, _ count: Int) -> [String] { (0..<count).map { "\(prefix)\($0)" } }

    @Test func withAKey() async throws {
        let count = 1990
        let columns = names("k", 1) + names("c", count - 1)
        try await StoreFixture.with("CREATE TABLE wide (\(columns.joined(separator: ", ")), PRIMARY KEY (k0))") {
            fixture in
            func sync(_ value: Int, keys: Range<Int>) throws -> MergeCounts {
                try fixture.commit(MergeRule(sync: .mirror)) { context in
                    for key in keys { try context.insert(Wide(columns: columns, value: value, key: key)) }
                }
            }
            let first = try sync(1, keys: 0..<3)
            #expect(first == MergeCounts(inserted: 3))
            #expect(try sync(2, keys: 1..<4) == MergeCounts(inserted: 1, updated: 2, deleted: 1))
            #expect(try fixture.rows("SELECT k0, c0, c\(count - 2) FROM wide") == ["1|2|2", "2|2|2", "3|2|2"])
        }
    }

    @Test func withoutAKey() async throws {
        let columns = names("c", 1200)
        try await StoreFixture.with("CREATE TABLE wide (\(columns.joined(separator: ", ")))") { fixture in
            func sync(_ values: Range<Int>) throws -> MergeCounts {
                try fixture.commit(MergeRule(sync: .mirror)) { context in
                    for value in values { try context.insert(Wide(columns: columns, value: value, key: 0)) }
                }
            }
            let first = try sync(0..<3)
            #expect(first == MergeCounts(inserted: 3))
            #expect(try sync(1..<4) == MergeCounts(inserted: 1, deleted: 1, unchanged: 2))
        }
    }

    @Test func withAKeyOfManyColumns() async throws {
        let columns = names("k", 300) + ["c"]
        let key = names("k", 300).joined(separator: ", ")
        try await StoreFixture.with("CREATE TABLE wide (\(columns.joined(separator: ", ")), PRIMARY KEY (\(key)))") {
            fixture in
            func sync(_ value: Int) throws -> MergeCounts {
                try fixture.commit { try $0.insert(Wide(columns: columns, value: value, key: 7)) }
            }
            let first = try sync(1)
            #expect(first == MergeCounts(inserted: 1))
            #expect(try sync(2) == MergeCounts(updated: 1))
            let lengths = try fixture.rows("SELECT json_array_length(key) FROM tributary_change")
            #expect(lengths == ["300", "300"])
        }
    }

    @Test func plansOfWideTables() async throws {
        let columns = names("k", 1) + names("c", 1100)
        try await StoreFixture.with("CREATE TABLE wide (\(columns.joined(separator: ", ")), PRIMARY KEY (k0))") {
            fixture in
            try fixture.commit { try $0.insert(Wide(columns: columns, value: 1, key: 0)) }
            let context = fixture.store.makeWorkerContext(source: "source")
            defer { context.remove() }
            context.beginRequest(0, rule: MergeRule())
            try context.insert(Wide(columns: columns, value: 2, key: 0))
            let stack = try context.finish()
            var told = 0
            let counts = try withoutActuallyEscaping({ (change: PlannedChange) in told += change.row.count }) { tell in
                try fixture.store.plan(
                    stack, mirrors: [], checkMirrors: { _, _, _ in }, limits: [:], retention: Retention(),
                    source: "source", onChange: tell)
            }
            #expect(counts.updated == 1 && told == 1101)
        }
    }

    @Test func tooManyColumnsAreRefused() async throws {
        try await StoreFixture.with("CREATE TABLE other (id TEXT PRIMARY KEY)") { fixture in
            let definition = TableSchema(
                name: "wide", columns: names("c", 1991).map { .init(name: $0, type: "TEXT") }, key: ["c0"],
                place: KeyPlace(path: "here"))
            let error = #expect(throws: StoreError.self) { try fixture.store.prepareTables([definition]) }
            #expect(error?.message.contains("1990") == true)
        }
    }
}
