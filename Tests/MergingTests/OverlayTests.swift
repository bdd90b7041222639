import FeedModel
import Foundation
import GRDB
import TestStores
import Testing

@testable import FeedStaging
@testable import FeedStores

/// Rows of several shapes for one table: what came last overrules, column by column, and a row counts once.
@Suite(.onEachStore) struct OverlayTests {
    private let schema =
        "CREATE TABLE item (id text PRIMARY KEY, name text, size bigint, kind text DEFAULT 'plain')"

    @Test func documentOrderDecides() async throws {
        try await StackFixture.with(schema) { (fixture) async throws in
            func sync() throws -> MergeCounts {
                try fixture.commit { context in
                    try context.insert(into: "item", ["id": "a", "name": "first"])
                    try context.insert(into: "item", ["id": "a", "name": "second", "size": 2])
                    try context.insert(into: "item", ["id": "b", "name": "B", "size": 1])
                    try context.insert(into: "item", ["id": "a", "name": "third"])
                    try context.insert(into: "item", ["id": "b", "name": "B2"])
                    try context.insert(into: "item", ["id": "b", "name": "B3", "size": 3])
                    try context.insert(into: "item", ["id": "c", "name": "C"])
                    try context.insert(into: "item", ["id": "d", "name": "D", "size": 4])
                }
            }
            let first = try sync()
            #expect(first == MergeCounts(inserted: 4, replaced: 2))
            let rows = ["a|third|2|plain", "b|B3|3|plain", "c|C|NULL|plain", "d|D|4|plain"]
            #expect(try fixture.rows("SELECT * FROM item ORDER BY id") == rows)
            #expect(
                try fixture.rows("SELECT key, operation FROM tributary_change ORDER BY key") == [
                    "a|insert", "b|insert", "c|insert", "d|insert",
                ])
            let again = try sync()
            #expect(again == MergeCounts(unchanged: 4, replaced: 2))
        }
    }

    @Test func requestsDecideBeforeDocuments() async throws {
        try await StackFixture.with(schema) { (fixture) async throws in
            func sync(_ sizes: [Int]) throws -> MergeCounts {
                try fixture.commit([
                    (
                        MergeRule(sync: .mirror),
                        { context in
                            for id in ["a", "b"] {
                                try context.insert(into: "item", ["id": id, "name": "N", "size": 0])
                            }
                        }
                    ),
                    (
                        MergeRule(),
                        { context in
                            for (index, size) in sizes.enumerated() {
                                try context.insert(into: "item", ["id": ["a", "c"][index], "size": size])
                            }
                        }
                    ),
                ])
            }
            #expect(try sync([7, 8]) == MergeCounts(inserted: 3))
            #expect(try fixture.rows("SELECT id, name, size FROM item ORDER BY id") == ["a|N|7", "b|N|0", "c|NULL|8"])
            #expect(try sync([7, 8]) == MergeCounts(unchanged: 3))
            #expect(try sync([9]) == MergeCounts(updated: 1, deleted: 1, unchanged: 1))
        }
    }

    /// Neither has all that a row needs.
    @Test func oneShapeHasWhatAnotherLacks() async throws {
        let schema =
            "CREATE TABLE item (a text, b text, name text NOT NULL, size bigint NOT NULL, PRIMARY KEY (a, b))"
        try await StackFixture.with(schema) { (fixture) async throws in
            let inserted = try fixture.commit { context in
                try context.insert(into: "item", ["a": "x", "b": "y", "name": "N"])
                try context.insert(into: "item", ["b": "y", "a": "x", "size": 5])
            }
            #expect(inserted == MergeCounts(inserted: 1))
            #expect(try fixture.rows("SELECT * FROM item") == ["x|y|N|5"])
        }
    }

    /// `insert` gives values to new rows, and leaves known ones alone.
    @Test(arguments: [false, true]) func otherModes(insertComesFirst: Bool) async throws {
        try await StackFixture.with(schema) { (fixture) async throws in
            func sync(_ name: String) throws -> MergeCounts {
                let insert: (MergeRule, (WorkerContext) throws -> Void) = (
                    MergeRule(sync: .insert), { try $0.insert(into: "item", ["id": "a", "name": name, "kind": name]) }
                )
                let upsert: (MergeRule, (WorkerContext) throws -> Void) = (
                    MergeRule(), { try $0.insert(into: "item", ["id": "a", "name": "upserted"]) }
                )
                return try fixture.commit(insertComesFirst ? [insert, upsert] : [upsert, insert])
            }
            #expect(try sync("one") == MergeCounts(inserted: 1))
            #expect(try sync("two") == MergeCounts(unchanged: 1))
            #expect(try fixture.rows("SELECT * FROM item") == ["a|upserted|NULL|one"])
        }
    }

    /// What only new rows are given, beside what all are.
    @Test func columnsOfNewRowsOnly() async throws {
        try await StackFixture.with(schema) { (fixture) async throws in
            func sync(_ name: String, _ size: Int) throws -> MergeCounts {
                try fixture.commit(MergeRule(insertOnly: ["item": ["name"]])) { context in
                    try context.insert(into: "item", ["id": "a", "name": name])
                    try context.insert(into: "item", ["id": "a", "size": size])
                }
            }
            #expect(try sync("one", 1) == MergeCounts(inserted: 1))
            #expect(try sync("two", 2) == MergeCounts(updated: 1))
            #expect(try fixture.rows("SELECT id, name, size FROM item") == ["a|one|2"])
            #expect(try sync("three", 2) == MergeCounts(unchanged: 1))
        }
    }

    /// Rows that are appended have no key, and no mirror takes them for missing ones of its own.
    @Test func aMirrorBesideWhatIsAppended() async throws {
        try await StackFixture.with("CREATE TABLE log (id INTEGER PRIMARY KEY, line text UNIQUE)") {
            (fixture) async throws in
            let merged = try fixture.commit([
                (MergeRule(sync: .mirror, keys: ["log": ["line"]]), { try $0.insert(into: "log", ["line": "a"]) }),
                (MergeRule(sync: .append), { try $0.insert(into: "log", ["line": "b"]) }),
            ])
            #expect(merged == MergeCounts(inserted: 2))
        }
    }

    /// Many shapes in a large feed, some of which reach the scratch database before another is known.
    @Test func manyShapes() async throws {
        let columns = (0..<6).map { "c\($0)" }
        let definitions = columns.map { $0 + " bigint" }.joined(separator: ", ")
        try await StackFixture.with("CREATE TABLE wide (id text PRIMARY KEY, \(definitions))") {
            (fixture) async throws in
            var model: [String: [String: Int]] = [:]
            var random = SystemRandomNumberGenerator()
            let filler = String(repeating: "x", count: 300)
            let rows = (0..<4000).map { row -> (String, Int, [Int]) in
                let first = row < 2000 ? 0 : Int.random(in: 0..<6, using: &random)
                return ("\(filler)\(row % 1500)", row, Array(Set([first, (first + row) % 6])))
            }
            for (id, value, written) in rows {
                for column in written { model[id, default: [:]][columns[column]] = value }
            }
            func sync() throws -> MergeCounts {
                try fixture.commit { context in
                    for (id, value, written) in rows {
                        switch written.map({ columns[$0] }).sorted() {
                        case let names where names.count == 1:
                            try context.insert(into: "wide", ["id": id, names[0]: value])
                        case let names:
                            try context.insert(into: "wide", ["id": id, names[0]: value, names[1]: value])
                        }
                    }
                }
            }
            let first = try sync()
            #expect(first.inserted == model.count && first.updated == 0)
            let stored = try fixture.rows(
                "SELECT id, \(columns.joined(separator: ", ")) FROM wide"
            ).sorted()
            let expected = model.map { id, values in
                ([id] + columns.map { values[$0].map(String.init) ?? "NULL" }).joined(separator: "|")
            }.sorted()
            #expect(stored == expected)
            let again = try sync()
            #expect(again.inserted + again.updated == 0 && again.unchanged == model.count)
        }
    }

    /// More shapes than one statement should join, all with the same keys; every one has the column `last`.
    @Test func twoHundredShapesOfOneKey() async throws {
        let columns = (0..<200).map { "c\($0)" }
        let definitions = columns.map { $0 + " bigint" }.joined(separator: ", ")
        try await StackFixture.with("CREATE TABLE wide (id text PRIMARY KEY, last bigint, \(definitions))") {
            (fixture) async throws in
            func sync(_ order: [Int]) throws -> MergeCounts {
                try fixture.commit { context in
                    // So many shapes do not stay in memory.
                    try context.flush()
                    for index in order {
                        for id in ["a", "b", "c"] {
                            try context.insert(into: "wide", ["id": id, "last": index, columns[index]: index])
                        }
                    }
                }
            }
            #expect(try sync(Array(0..<200)) == MergeCounts(inserted: 3))
            let sum = "SELECT last, \(columns.joined(separator: " + ")) FROM wide"
            #expect(try fixture.rows(sum) == ["199|19900", "199|19900", "199|19900"])
            let mixed = Array(0..<200).sorted { ($0 * 7919) % 211 < ($1 * 7919) % 211 }
            #expect(try sync(mixed) == MergeCounts(updated: 3))
            #expect(try fixture.rows("SELECT DISTINCT last FROM wide") == ["\(mixed[199])"])
        }
    }

    /// Rows of many columns in each of several shapes: together more than PostgreSQL returns at once.
    @Test func wideShapes() async throws {
        let columns = (0..<700).map { "c\($0)" }
        let definitions = columns.map { $0 + " bigint" }.joined(separator: ", ")
        try await StackFixture.with(
            "CREATE TABLE wide (id bigint PRIMARY KEY, x bigint, y bigint, z bigint, \(definitions))"
        ) {
            (fixture) async throws in
            let rule = MergeRule()
            func sync(_ offset: Int64) throws -> MergeCounts {
                try fixture.commit(rule) { context in
                    for (index, own) in ["x", "y", "z"].enumerated() {
                        let values = columns.indices.map { StagedValue.integer(Int64($0) + Int64(index) + offset) }
                        try context.stage(.of("wide", ["id", own] + columns), rule, [[1, .integer(offset)] + values])
                    }
                }
            }
            #expect(try sync(5) == MergeCounts(inserted: 1))
            #expect(try fixture.rows("SELECT x, y, z, c0, c699 FROM wide") == ["5|5|5|7|706"])
            #expect(try sync(5) == MergeCounts(unchanged: 1))
            #expect(try sync(6) == MergeCounts(updated: 1))
        }
    }
}
