import Foundation
import GRDB
import TestSupport
import Testing

/// A store that nobody has open is its file alone: whoever copies that has everything.
@Suite struct ClosedStoreTests {
    private struct Fixture {
        let server: StubServer
        let folder: TemporaryFolder
        let program: BuiltProgram

        var store: String { folder.file("store.sqlite") }

        /// Expects that the file has the rows, and that nothing stands in the log.
        func expectWhole(_ after: String, rows: Int) throws {
            let log = try? FileManager.default.attributesOfItem(atPath: store + "-wal")[.size] as? Int
            #expect(log ?? 0 == 0, "\(after) leaves a log")
            let copy = folder.file("copy-\(UUID().uuidString)")
            try FileManager.default.copyItem(atPath: store, toPath: copy)
            let queue = try DatabaseQueue(path: copy)
            let found = try queue.read { db in
                try ["item", "tributary_request"].map { try Int.fetchOne(db, sql: "SELECT count(*) FROM \($0)") ?? 0 }
            }
            #expect(found == [rows, 1], "\(after): \(found)")
            try queue.close()
        }

        func serve(_ count: Int) {
            let items = (0..<count).map { "<item id='\($0)'/>" }.joined()
            server.document("/items", "<items>\(items)</items>", etag: "\"\(count)\"")
        }
    }

    private func with(_ body: (Fixture) async throws -> Void) async throws {
        try await withStubServer { (server) async throws in
            try await withTemporaryFolder { (folder) async throws in
                try folder.write(
                    """
                    [store]
                    path = "store.sqlite"
                    [sources.s]
                    keep_bodies = 2
                    keep_history = true
                    [[sources.s.requests]]
                    url = "\(server.url)/items"
                    tables = [{ table = "item", element = "item", key = ["id"], columns = { id = "@id" } }]
                    """, to: "sources.toml")
                let program = BuiltProgram("tributary", config: folder.file("sources.toml"))
                let fixture = Fixture(server: server, folder: folder, program: program)
                fixture.serve(1)
                try await body(fixture)
            }
        }
    }

    @Test func everyCommandClosesWhatItOpened() async throws {
        try await with { (fixture) async throws in
            #expect(try await fixture.program.run("sync").status == 0)
            try fixture.expectWhole("the first sync", rows: 1)
            fixture.serve(2)
            #expect(try await fixture.program.run("sync", "--force").status == 0)
            try fixture.expectWhole("sync", rows: 2)
            let commands = [
                ["check", "--store"], ["status"], ["history"], ["tail"], ["changes", "s"], ["plan", "s"],
                ["replay", "s", "--plan"], ["replay", "s", "--yes"], ["export", "s"], ["migrate", "s"],
                ["accept", "s", "--yes"],
                ["resume", "s"], ["undo", "s", "--plan"], ["backup", fixture.folder.file("backup")], ["refresh"],
                ["sync"], ["purge", "s"],
            ]
            for command in commands {
                let output = try await fixture.program.start(command).output()
                #expect([0, 1, 2, 64].contains(output.status), "\(command): \(output)")
                try fixture.expectWhole(command.joined(separator: " "), rows: 2)
            }
            #expect(try await fixture.program.run("undo", "s", "--yes").status == 0)
            try fixture.expectWhole("undo", rows: 1)
        }
    }

    @Test func aDaemonThatIsStoppedClosesTheStore() async throws {
        try await with { (fixture) async throws in
            let daemon = try fixture.program.start(["run"])
            for await line in daemon.errorLines where line.contains("s: committed") { break }
            daemon.signal(SIGTERM)
            #expect(await daemon.end() == 0)
            try fixture.expectWhole("the daemon", rows: 1)
        }
    }

    /// While the daemon has the store open, a command is not the last, and the file has all the same what it committed.
    @Test func aCommandBesideADaemonBringsWhatItCommittedIntoTheFile() async throws {
        try await with { (fixture) async throws in
            #expect(try await fixture.program.run("sync").status == 0)
            let reader = try DatabaseQueue(path: fixture.store)
            #expect(try await reader.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM item") } == 1)
            fixture.serve(3)
            #expect(try await fixture.program.run("sync", "--force").status == 0)
            let copy = fixture.folder.file("copy")
            try FileManager.default.copyItem(atPath: fixture.store, toPath: copy)
            #expect(try await sqlite(copy, "SELECT count(*) FROM item") == "3")
            try reader.close()
        }
    }
}
