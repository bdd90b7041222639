import FeedModel
import Foundation
import TestStores
import Testing
@testable import FeedStaging
@testable import FeedStores
@testable import PostgresStore

/// Changes that a merge reports before it makes them.
@Suite struct PlanTests {
    private final class Told {
        var changes: [String] = []

        func tell(_ change: PlannedChange) {
            func text(_ values: PlannedChange.Values) -> String {
                values.map { "\($0.column)=\($0.value)" }.joined(separator: " ")
            }
            let words =
                switch change.operation {
                case .insert: "insert \(change.table) \(text(change.row))"
                case .delete: "delete \(change.table) \(text(change.row))"
                case .update(let old): "update \(change.table) \(text(old)) -> \(text(change.row))"
                }
            changes.append(words + " by " + change.key.joined(separator: ","))
        }
    }

    private func plan(
        _ fixture: MergeFixture, _ rule: MergeRule = MergeRule(sync: .mirror),
        _ stage: (WorkerContext) throws -> Void
    ) throws -> [String] {
        let told = Told()
        try withoutActuallyEscaping(stage) { stage in
            _ = try fixture.plan([(rule, stage)], onChange: told.tell)
        }
        return told.changes.sorted()
    }

    @Test func everyKindOfChange() async throws {
        let schema = "CREATE TABLE item (id text PRIMARY KEY, name text, size bigint)"
        try await MergeFixture.with(schema) { (fixture) async throws in
            try fixture.commit { context in
                try context.insert(into: "item", ["id": "a", "name": "A", "size": 1])
                try context.insert(into: "item", ["id": "b", "name": "B", "size": 2])
                try context.insert(into: "item", ["id": "c", "name": nil, "size": 3])
            }
            let changes = try plan(fixture) { context in
                try context.insert(into: "item", ["id": "a", "name": "A", "size": 1])
                try context.insert(into: "item", ["id": "c", "name": "C", "size": nil])
                try context.insert(into: "item", ["id": "d", "name": "D", "size": 4])
            }
            #expect(
                changes == [
                    "delete item id=\"b\" name=\"B\" size=2 by id",
                    "insert item id=\"d\" name=\"D\" size=4 by id",
                    "update item id=\"c\" name=NULL size=3 -> id=\"c\" name=\"C\" size=NULL by id",
                ])
            #expect(try fixture.rows("SELECT id FROM item ORDER BY id") == ["a", "b", "c"])
            let repeated = try plan(fixture) { context in
                for (id, name, size) in [("a", "A" as String?, 1), ("b", "B", 2), ("c", nil, 3)] {
                    try context.insert(into: "item", ["id": id, "name": name, "size": size])
                }
            }
            #expect(repeated.isEmpty)
        }
    }

    /// Types that SQLite has are as there, others are what PostgreSQL shows.
    @Test func valuesOfAllTypes() async throws {
        let schema = """
            CREATE TABLE t (id smallint PRIMARY KEY, r double precision, b boolean, d date, z timestamptz, n numeric,
                m numeric(10, 2), x bytea, j jsonb, a text[])
            """
        try await MergeFixture.with(schema) { (fixture) async throws in
            let changes = try plan(fixture) { context in
                try context.insert(
                    into: "t",
                    [
                        "id": 1, "r": 0.1, "b": true, "d": "2026-11-22", "z": "2026-11-22T10:00:00+02:00", "n": "7",
                        "m": "1.5", "x": Data([0, 255]), "j": "{\"k\": [1]}", "a": "{x,y}",
                    ])
            }
            #expect(
                changes == [
                    "insert t id=1 r=0.1 b=1 d=\"2026-11-22\" z=\"2026-11-22 08:00:00+00\" n=7 m=1.5 x=2 bytes "
                        + "j=\"{\\\"k\\\": [1]}\" a=\"{x,y}\" by id"
                ])
        }
    }

    @Test func rowsThatAreTakenAlong() async throws {
        let schema = """
            CREATE TABLE parent (id text PRIMARY KEY, code text UNIQUE);
            CREATE TABLE child (id text PRIMARY KEY, parent text REFERENCES parent ON DELETE CASCADE,
                code text REFERENCES parent (code) ON UPDATE CASCADE);
            CREATE TABLE note (id text PRIMARY KEY, parent text REFERENCES parent ON DELETE SET NULL);
            INSERT INTO parent VALUES ('p', 'x'), ('q', 'y');
            INSERT INTO child VALUES ('c', 'p', NULL), ('d', 'q', 'y');
            INSERT INTO note VALUES ('n', 'p');
            """
        try await MergeFixture.with(schema) { (fixture) async throws in
            let changes = try plan(fixture) { try $0.insert(into: "parent", ["id": "q", "code": "z"]) }
            #expect(
                changes == [
                    "delete child id=\"c\" parent=\"p\" code=NULL by id",
                    "delete parent id=\"p\" code=\"x\" by id",
                    "update child id=\"d\" parent=\"q\" code=\"y\" -> id=\"d\" parent=\"q\" code=\"z\" by id",
                    "update note id=\"n\" parent=\"p\" -> id=\"n\" parent=NULL by id",
                    "update parent id=\"q\" code=\"y\" -> id=\"q\" code=\"z\" by id",
                ])
        }
    }

    /// A table whose old and new columns are together more than PostgreSQL returns.
    @Test func wideTables() async throws {
        let columns = (0..<1100).map { "c\($0)" }
        let schema =
            "CREATE TABLE wide (id bigint PRIMARY KEY, \(columns.map { $0 + " smallint" }.joined(separator: ", ")))"
        try await MergeFixture.with(schema) { (fixture) async throws in
            let shape = RowShape.of("wide", ["id"] + columns)
            func row(_ value: Int64) -> [StagedValue] { [1] + columns.map { _ in .integer(value) } }
            try fixture.commit { try $0.stage(shape, MergeRule(), [row(1)]) }
            let changes = try plan(fixture) { try $0.stage(shape, MergeRule(), [row(2)]) }
            #expect(changes.count == 1 && changes.first?.contains("c1099=1 -> id=1 c0=2") == true)
        }
    }

    /// What is told comes as the server sends it: a body that stops the plan has not waited for all rows.
    @Test func anErrorOfTheListenerEndsThePlan() async throws {
        struct Stop: Error {}
        try await MergeFixture.with("CREATE TABLE item (id bigint PRIMARY KEY)") { (fixture) async throws in
            var told = 0
            let tell = { (_: PlannedChange) throws in
                told += 1
                if told == 3 { throw Stop() }
            }
            let rows = (0..<5000).map { [StagedValue.integer($0)] }
            let stage = { (context: WorkerContext) throws in
                try context.stage(.of("item", ["id"]), MergeRule(), rows)
            }
            #expect(throws: Stop.self) {
                try fixture.plan([(MergeRule(), stage)], onChange: tell)
            }
            #expect(told == 3)
            #expect(try fixture.rows("SELECT count(*) FROM item") == ["0"])
        }
    }
}
