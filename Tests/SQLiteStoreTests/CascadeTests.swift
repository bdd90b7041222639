import FeedModel
import Foundation
import GRDB
import Testing
@testable import FeedStaging
@testable import FeedStores
@testable import SQLiteStore

/// What foreign keys change along with the rows of a commit is logged and counted, and whoever wrote it sends it again.
@Suite struct CascadeTests {
    private func parents(_ ids: [String]) -> Request {
        (MergeRule(sync: .mirror), { context in for id in ids { try context.insert(into: "parent", ["id": id]) } })
    }

    private typealias Request = (rule: MergeRule, stage: (WorkerContext) throws -> Void)

    private func changes(_ fixture: StoreFixture, after run: Int = 1) throws -> [String] {
        try fixture.rows("SELECT \"table\", key, operation FROM tributary_change WHERE run > \(run) ORDER BY 1, 2, 3")
    }

    /// Generation after generation, around circles, by keys of two columns, without row ids, under other collations.
    @Test func descendants() async throws {
        let schema = """
            CREATE TABLE parent (id TEXT COLLATE NOCASE PRIMARY KEY, next TEXT REFERENCES leaf (id) ON DELETE CASCADE);
            CREATE TABLE child (a TEXT REFERENCES parent ON DELETE CASCADE, b INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID;
            CREATE TABLE leaf (
                id TEXT UNIQUE, a TEXT, b INTEGER, up TEXT REFERENCES leaf (id) ON DELETE CASCADE,
                FOREIGN KEY (a, b) REFERENCES child ON DELETE CASCADE);
            CREATE TABLE note (leaf TEXT REFERENCES leaf (id) ON DELETE SET NULL, text TEXT);
            """
        try await StoreFixture.with(schema) { fixture in
            try fixture.commit([parents(["p1", "p2"])])
            try await fixture.store.pool.write {
                try $0.execute(
                    sql: """
                        INSERT INTO child VALUES ('P1', 1), ('p1', 2), ('p2', 1);
                        INSERT INTO leaf VALUES ('l1', 'P1', 1, NULL), ('l2', NULL, NULL, 'l1'), ('l3', NULL, NULL, NULL);
                        INSERT INTO parent VALUES ('p3', 'l2');
                        INSERT INTO child VALUES ('p3', 1);
                        INSERT INTO note VALUES ('l2', 'two'), ('l3', 'three');
                        """)
            }
            // p3 is not in the feed either, and is counted once.
            let deleted = try fixture.commit([parents(["p2"])])
            #expect(deleted == MergeCounts(updated: 1, deleted: 7, unchanged: 1))
            #expect(
                try changes(fixture) == [
                    "child|[\"P1\",1]|delete", "child|[\"p1\",2]|delete", "child|[\"p3\",1]|delete", "leaf|1|delete",
                    "leaf|2|delete", "note|1|update", "parent|p1|delete", "parent|p3|delete",
                ])
            #expect(try fixture.rows("SELECT * FROM note") == ["NULL|two", "l3|three"])
        }
    }

    @Test func plansShowThem() async throws {
        let schema = """
            CREATE TABLE parent (id TEXT PRIMARY KEY, code TEXT UNIQUE);
            CREATE TABLE child (id TEXT PRIMARY KEY, parent TEXT REFERENCES parent ON DELETE CASCADE);
            CREATE TABLE note (id TEXT PRIMARY KEY, child TEXT REFERENCES child ON DELETE SET NULL);
            CREATE TABLE label (code TEXT REFERENCES parent (code) ON UPDATE CASCADE);
            """
        try await StoreFixture.with(schema) { fixture in
            func stage(_ context: WorkerContext, _ ids: [String], _ code: String) throws {
                context.beginRequest(0, rule: MergeRule(sync: .mirror))
                for id in ids { try context.insert(into: "parent", ["id": id, "code": code + id]) }
            }
            try fixture.commit { try stage($0, ["p1", "p2"], "old ") }
            try await fixture.store.pool.write {
                try $0.execute(
                    sql: """
                        INSERT INTO child VALUES ('c', 'p1'); INSERT INTO note VALUES ('n', 'c');
                        INSERT INTO label VALUES ('old p2')
                        """)
            }
            let context = fixture.store.makeWorkerContext(source: "source")
            defer { context.remove() }
            try stage(context, ["p2"], "new ")
            let stack = try context.finish()
            let told = Mutex<[String]>([])
            let planned = try fixture.store.plan(
                stack, mirrors: [], checkMirrors: { _, _, _ in }, limits: [:], retention: Retention(), source: "source"
            ) {
                change in
                func text(_ values: PlannedChange.Values) -> String {
                    values.map { "\($0.value)" }.joined(separator: "|")
                }
                var line = "\(change.table) \(text(change.row))"
                if case .update(let old) = change.operation { line += " was \(text(old))" }
                told.withLock { $0.append(line) }
            }
            #expect(planned == MergeCounts(updated: 3, deleted: 2))
            #expect(
                told.withLock { $0.sorted() } == [
                    "child \"c\"|\"p1\"", "label \"new p2\" was \"old p2\"", "note \"n\"|NULL was \"n\"|\"c\"",
                    "parent \"p1\"|\"old p1\"", "parent \"p2\"|\"new p2\" was \"p2\"|\"old p2\"",
                ])
            #expect(try fixture.rows("SELECT * FROM child") == ["c|p1"])
        }
    }

    /// The requests whose rows were taken are unconditional next time: another source's, and one of this stack's that
    /// answered 304.
    @Test func validatorsOfWhoeverWroteThem() async throws {
        let schema = """
            CREATE TABLE parent (id TEXT PRIMARY KEY);
            CREATE TABLE child (id TEXT PRIMARY KEY, parent TEXT REFERENCES parent ON DELETE CASCADE);
            CREATE TABLE other (id TEXT PRIMARY KEY);
            """
        try await StoreFixture.with(schema) { fixture in
            func state(_ key: String, _ tables: Set<String>) -> RequestState {
                RequestState(
                    key: key, validators: Validators(etag: "\"\(key)\"", lastModified: nil), fingerprint: "f",
                    tables: tables, sync: .mirror, scope: [:])
            }
            func commit(
                _ source: String, _ states: [RequestState], _ stage: (WorkerContext) throws -> Void
            ) throws {
                let context = fixture.store.makeWorkerContext(source: source)
                defer { context.remove() }
                context.beginRequest(0, rule: MergeRule(sync: .mirror))
                try stage(context)
                let stack = try context.finish()
                let commit = Commit(
                    report: RunReport(source: source, outcome: .committed, startedAt: Date()), requests: states,
                    state: SourceState(source: source, outcome: .committed))
                _ = try fixture.store.pool.writeWithoutTransaction { db in
                    try fixture.store.commit(commit, merging: stack, seconds: { 0 }, on: db)
                }
            }
            let companies = state("companies", ["parent"])
            let staff = state("staff", ["child"])
            try commit("firms", [companies, staff, state("others", ["other"])]) { context in
                try context.insert(into: "parent", ["id": "p1"])
                try context.insert(into: "parent", ["id": "p2"])
                try context.insert(into: "child", ["id": "c", "parent": "p1"])
                try context.insert(into: "other", ["id": "o"])
            }
            try commit("people", [state("guests", ["CHILD"])]) { context in
                try context.insert(into: "child", ["id": "c", "parent": "p1"])
                try context.insert(into: "child", ["id": "g", "parent": "p1"])
            }
            try commit("firms", [companies]) { try $0.insert(into: "parent", ["id": "p2"]) }
            #expect(
                try fixture.rows("SELECT key, etag FROM tributary_request ORDER BY key") == [
                    "companies|\"companies\"", "guests|NULL", "others|\"others\"", "staff|NULL",
                ])
        }
    }
}
