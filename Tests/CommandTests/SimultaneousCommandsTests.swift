import Foundation
import GRDB
import TestSupport
import Testing

/// Two commands at the same time on one store in a file: each ends as if one had come after the other, or with an error
/// that says why.
@Suite(.serialized, .timeLimit(.minutes(10))) struct SimultaneousCommandsTests {
    private static let commands: [String: [String]] = [
        "sync": ["sync", "--force"], "undo": ["undo", "s", "--yes"], "purge": ["purge", "s", "--yes"],
        "backup": ["backup", "FOLDER/new.sqlite"], "restore": ["restore", "FOLDER/copy.sqlite", "--yes"],
        "migrate": ["migrate", "s", "--yes"], "refresh": ["refresh", "s"], "resume": ["resume", "s"],
        "status": ["status"],
    ]

    /// What errors may say: who has the store, or that the other command has already done it.
    private static let clear = [
        "has been replaced by another one since it was opened",
        "is being run at this moment", "is running", "sources are running on", "is in use", "has the store open",
        "no daemon runs on", "` (process", "kept no history", "has changed since", "will be discarded", "exists",
        "cannot be undone", "nothing to undo", "is not paused", "shows the SQL that changes the table",
        "are being replaced by another process", "stop it first",
    ]

    private struct Fixture {
        let folder: TemporaryFolder

        func declare(size: String) throws {
            try folder.write(
                """
                [store]
                path = "store.sqlite"
                [sources.s]
                keep_history = true
                [[sources.s.requests]]
                url = "file://\(folder.file("document.xml"))"
                sync = "mirror"
                tables = [{ table = "item", element = "item", key = ["id"], columns = { id = "@id", size = { path = "size", type = "\(size)" } } }]
                """, to: "sources.toml")
        }

        func write(_ sizes: [Int: Int]) throws {
            let items = sizes.sorted { $0.key < $1.key }.map { "<item id='\($0.key)'><size>\($0.value)</size></item>" }
            try folder.write("<r>\(items.joined())</r>", to: "document.xml")
        }

        func start(_ name: String) throws -> RunningProgram {
            let words = (commands[name] ?? []).map { $0.replacing("FOLDER", with: folder.path) }
            return try BuiltProgram("tributary", config: folder.file("sources.toml")).start(words)
        }

        func run(_ name: String) async throws -> BuiltProgram.Output { await (try start(name)).output() }

        func texts(_ sql: String, of file: String = "store.sqlite") throws -> [String] {
            let database = try DatabaseQueue(path: folder.file(file))
            defer { try? database.close() }
            return try database.read { try String.fetchAll($0, sql: sql) }
        }

        /// The rows, and the table's definition.
        func state() throws -> [String] {
            try texts("SELECT id || ' ' || typeof(size) || ' ' || size FROM item ORDER BY id")
                + texts("SELECT sql FROM sqlite_schema WHERE name = 'item'")
        }

        /// Hands over a copy of the store and its files in a folder of its own.
        func copy(size: String, _ body: (Fixture) async throws -> Void) async throws {
            try await withTemporaryFolder { (other) async throws in
                for name in try files(in: folder.path) where name.contains(".sqlite") || name == "document.xml" {
                    try FileManager.default.copyItem(atPath: folder.file(name), toPath: other.file(name))
                }
                let fixture = Fixture(folder: other)
                try fixture.declare(size: size)
                try await body(fixture)
            }
        }
    }

    /// A store after two runs, a copy of the first, and a third document.
    private func with(_ names: [String], _ body: (Fixture) async throws -> Void) async throws {
        try await withTemporaryFolder { (folder) async throws in
            let fixture = Fixture(folder: folder)
            try fixture.declare(size: "text")
            try fixture.write([1: 10, 2: 20])
            #expect(try await fixture.run("sync").status == 0)
            let program = BuiltProgram("tributary", config: folder.file("sources.toml"))
            #expect(try await program.run("backup", folder.file("copy.sqlite")).status == 0)
            try fixture.write([1: 11, 3: 30])
            #expect(try await fixture.run("sync").status == 0)
            try fixture.write([1: 12, 4: 40])
            if names.contains("resume") { #expect(try await program.run("pause", "s").status == 0) }
            try await body(fixture)
        }
    }

    @Test(arguments: [
        ("restore", "refresh"), ("restore", "resume"), ("restore", "sync"), ("restore", "backup"),
        ("restore", "restore"), ("restore", "undo"), ("restore", "status"), ("migrate", "sync"), ("migrate", "undo"),
        ("undo", "sync"), ("undo", "purge"), ("purge", "sync"), ("backup", "sync"), ("backup", "migrate"),
    ])
    func theyEndAsIfOneCameAfterTheOther(one: String, other: String) async throws {
        // A migration has something to do.
        let size = [one, other].contains("migrate") ? "integer" : "text"
        try await with([one, other]) { (base) async throws in
            var expected: Set<[String]> = []
            for order in [[one, other], [other, one], [one], [other]] {
                try await base.copy(size: size) { (fixture) async throws in
                    for name in order { _ = try await fixture.run(name) }
                    expected.insert(try fixture.state())
                }
            }
            for _ in 0..<2 {
                try await base.copy(size: size) { (fixture) async throws in
                    let (first, second) = (try fixture.start(one), try fixture.start(other))
                    async let output = first.output()
                    for (name, output) in [(other, await second.output()), (one, await output)] {
                        let said = output.standardError + output.standardOutput
                        let isClear = Self.clear.contains { said.contains($0) } && !said.contains("Domain=")
                        #expect(
                            output.status == 0 || output.status > 0 && isClear, "\(one), \(other): \(name) \(output)")
                    }
                    let state = try fixture.state()
                    #expect(expected.contains(state), "\(one), \(other): \(state)")
                    for file in ["store.sqlite", "new.sqlite"] {
                        guard FileManager.default.fileExists(atPath: fixture.folder.file(file)) else { continue }
                        #expect(try fixture.texts("PRAGMA integrity_check", of: file) == ["ok"])
                    }
                    let left = try files(in: fixture.folder.path).filter { $0.contains(/-daemon|-messages|restoring/) }
                    #expect(left == [])
                }
            }
        }
    }
}
