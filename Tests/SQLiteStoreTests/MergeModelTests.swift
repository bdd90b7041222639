import FeedModel
import GRDB
import TestSupport
import Testing
@testable import FeedStaging
@testable import FeedStores
@testable import SQLiteStore

/// Random feeds of parents and children against a plain model: unique values change places, children change parents, and
/// parents that go take along whoever is left. The changelog accounts for every row.
@Suite struct MergeModelTests {
    private struct Node: Equatable {
        var parent: String?
        var slot: Int
    }

    @Test(arguments: 0..<12) func parentsAndChildren(seed: UInt64) async throws {
        let rowID = seed % 3 == 0 ? " WITHOUT ROWID" : ""
        let schema = """
            CREATE TABLE parent (id TEXT PRIMARY KEY, slot INTEGER UNIQUE)\(rowID);
            CREATE TABLE child (
                id TEXT PRIMARY KEY, slot INTEGER UNIQUE,
                parent TEXT NOT NULL REFERENCES parent ON DELETE CASCADE)\(rowID);
            CREATE INDEX child_parent ON child (parent);
            """
        try await StoreFixture.with(schema) { fixture in
            var random = SplitMix64(seed: seed)
            var parents: [String: Node] = [:]
            var children: [String: Node] = [:]
            for _ in 0..<10 {
                let (new, offspring) = feed(&random)
                let hasChildren = Bool.random(using: &random)
                let parentsFirst = Bool.random(using: &random)
                let stage = { (context: WorkerContext) in
                    if parentsFirst || !hasChildren { try insert(new, into: "parent", context) }
                    if hasChildren { try insert(offspring, into: "child", context) }
                    if !parentsFirst && hasChildren { try insert(new, into: "parent", context) }
                }
                let before = try changelog(fixture)
                let merged = try fixture.commit(MergeRule(sync: .mirror), stage)
                let orphans = children.filter { new[$0.value.parent!] == nil }.count
                let expected = changes(parents, new)
                if hasChildren {
                    let below = changes(children, offspring)
                    #expect(merged.inserted == expected.inserted + below.inserted)
                    #expect(merged.updated == expected.updated + below.updated)
                    #expect(merged.deleted == expected.deleted + below.deleted)
                    children = offspring
                } else {
                    #expect(merged.inserted == expected.inserted)
                    #expect(merged.updated == expected.updated)
                    #expect(merged.deleted == expected.deleted + orphans)
                    children = children.filter { new[$0.value.parent!] != nil }
                }
                parents = new
                #expect(try stored("parent", fixture) == parents)
                #expect(try stored("child", fixture) == children)
                let after = try changelog(fixture)
                #expect(after["insert", default: 0] - before["insert", default: 0] == merged.inserted)
                #expect(after["update", default: 0] - before["update", default: 0] == merged.updated)
                #expect(after["delete", default: 0] - before["delete", default: 0] == merged.deleted)
                let again = try fixture.commit(MergeRule(sync: .mirror), stage)
                #expect(again.inserted + again.updated + again.deleted == 0)
            }
        }
    }

    private func feed(_ random: inout SplitMix64) -> (parents: [String: Node], children: [String: Node]) {
        func nodes(_ prefix: String, _ parents: [String]) -> [String: Node] {
            let ids = (0..<8).filter { _ in Bool.random(using: &random) } + [9]
            let slots = Array(0..<12).shuffled(using: &random)
            return Dictionary(
                uniqueKeysWithValues: zip(ids, slots).map {
                    ("\(prefix)\($0)", Node(parent: parents.randomElement(using: &random), slot: $1))
                })
        }
        let parents = nodes("p", [])
        return (parents, nodes("c", parents.keys.sorted()))
    }

    private func insert(_ nodes: [String: Node], into table: String, _ context: WorkerContext) throws {
        for (id, node) in nodes.sorted(by: { $0.key < $1.key }) {
            if let parent = node.parent {
                try context.insert(into: table, ["id": id, "slot": node.slot, "parent": parent])
            } else {
                try context.insert(into: table, ["id": id, "slot": node.slot])
            }
        }
    }

    private func changes(_ old: [String: Node], _ new: [String: Node]) -> MergeCounts {
        MergeCounts(
            inserted: new.keys.filter { old[$0] == nil }.count,
            updated: new.filter { old[$0.key] != nil && old[$0.key] != $0.value }.count,
            deleted: old.keys.filter { new[$0] == nil }.count)
    }

    private func stored(_ table: String, _ fixture: StoreFixture) throws -> [String: Node] {
        try fixture.store.reader.read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM \(table)").reduce(into: [:]) { nodes, row in
                nodes[row["id"]] = Node(parent: table == "child" ? row["parent"] : nil, slot: row["slot"])
            }
        }
    }

    private func changelog(_ fixture: StoreFixture) throws -> [String: Int] {
        try fixture.store.reader.read { db in
            try Row.fetchAll(db, sql: "SELECT operation, count(*) AS n FROM tributary_change GROUP BY 1").reduce(
                into: [:]
            ) { $0[$1["operation"]] = $1["n"] }
        }
    }
}
