import Foundation
import GRDB
import TestStores
import TestSupport
import Testing

/// `replay`, `purge` and `restore`, as people call them.
@Suite struct HousekeepingTests {
    private struct Fixture {
        let folder: TemporaryFolder
        let server: StubServer
        let store: TestStore
        let program: BuiltProgram

        func declare(_ sources: [String], column: String = "name") throws {
            let requests = sources.map { source in
                """
                [sources.\(source)]
                keep_bodies = 1
                [[sources.\(source).requests]]
                url = "\(server.url)/\(source)"
                sync = "mirror"
                tables = [{ table = "\(source)", element = "item", key = ["id"], columns = { id = "@id", \(column) = "name" } }]

                """
            }
            // Nothing but comments would be an empty file.
            try folder.write(store.declaration + requests.joined(), to: "sources.toml")
        }
    }

    private func with(_ body: (Fixture) async throws -> Void) async throws {
        try await withStubServer { server in
            try await withTemporaryFolder { folder in
                try await withTestStore(in: folder) { store in
                    let program = BuiltProgram("tributary", config: folder.file("sources.toml"))
                    for name in ["s", "t"] {
                        server.document("/" + name, "<r><item id='1'><name>n</name></item></r>", etag: "\"1\"")
                    }
                    let fixture = Fixture(folder: folder, server: server, store: store, program: program)
                    try fixture.declare(["s", "t"])
                    #expect(try await program.run("sync").status == 0)
                    try await body(fixture)
                }
            }
        }
    }

    @Test func aReplayIsShownAndDoneAndRemembered() async throws {
        try await with { (fixture) async throws in
            try fixture.declare(["s", "t"], column: "title")
            let plan = try await fixture.program.run("replay", "s", "--plan")
            #expect(plan.status == 2 && plan.standardOutput.contains("update 1"), "\(plan)")
            let replay = try await fixture.program.run("replay", "s", "--json", "--yes")
            #expect(replay.status == 0 && replay.standardOutput.contains("\"kind\":\"replay\""), "\(replay)")
            #expect(replay.standardOutput.contains("\"updated\":1"))
            #expect(try fixture.store.rows("SELECT title FROM s") == ["n"])
            let history = try await fixture.program.run("history", "s")
            #expect(history.standardOutput.contains("committed (replay)"), "\(history)")
            #expect(fixture.server.requests().count == 2)
            let nothing = try await fixture.program.run("replay", "x")
            #expect(nothing.status == 64)
        }
    }

    @Test(.onEachStore) func sourcesThatAreNotDeclaredAreNamedAndPurged() async throws {
        try await with { (fixture) async throws in
            try fixture.declare(["t"])
            for command in [["status"], ["check", "--store"]] {
                let output = await (try fixture.program.start(command)).output()
                #expect(
                    output.status == 0 && output.standardOutput.contains("`tributary purge s` deletes"), "\(output)")
            }
            let status = try await fixture.program.run("status", "--json")
            #expect(status.standardOutput.contains("\"declared\":false"))
            let asked = try await fixture.program.run("purge", "s")
            #expect(asked.status == 64, "\(asked)")
            #expect(asked.standardOutput.contains("table 's': 1 row to delete"))
            #expect(asked.standardError.contains("tributary: nothing was changed: without a terminal"))
            #expect(try fixture.store.rows("SELECT count(*) FROM s") == ["1"])
            let purge = try await fixture.program.run("purge", "s", "--yes")
            #expect(purge.status == 0 && purge.standardOutput.contains("s is purged"), "\(purge)")
            #expect(try fixture.store.rows("SELECT count(*) FROM s") == ["0"])
            #expect(try fixture.store.rows("SELECT count(*) FROM t") == ["1"])
            let folder =
                fixture.folder.path + (StoreKind.current == .sqlite ? "/store.sqlite" : "/tributary-work/tributary")
            #expect(!FileManager.default.fileExists(atPath: folder + "-bodies/s"))
            #expect(FileManager.default.fileExists(atPath: folder + "-bodies/t"))
            let after = try await fixture.program.run("status")
            #expect(!after.standardOutput.contains("purge s"))
            let again = try await fixture.program.run("purge", "s", "--yes")
            #expect(again.status == 64 && again.standardError.contains("neither in"), "\(again)")
        }
    }

    @Test(.onEachStore, .timeLimit(.minutes(2))) func whatAKilledProcessLeavesGoes() async throws {
        try await with { (fixture) async throws in
            let paths = { () -> [String] in
                let all =
                    FileManager.default.enumerator(atPath: fixture.folder.path)?.compactMap { $0 as? String } ?? []
                return all.filter { $0.hasSuffix(".body") || $0.hasSuffix(".gz") }
            }
            let before = paths()
            #expect(before.count == 2)
            fixture.server.route("/s") { _ in
                [StubServer.head(200, ["Content-Length": "1000"]), .send(Array("<items>".utf8)), .hang]
            }
            let process = try fixture.program.start(["sync", "s", "--force"])
            // The scratch file is made with the first bytes of the body.
            while !paths().contains(where: { $0.hasSuffix(".body") }) { try await Task.sleep(for: .milliseconds(2)) }
            process.signal(SIGKILL)
            _ = await process.end()
            let replay = try await fixture.program.run("replay", "s", "--yes")
            #expect(replay.status == 0, "\(replay)")
            #expect(Set(paths()) == Set(before))
        }
    }

    @Test(.onEachStore) func aCopyBecomesTheStore() async throws {
        try await with { (fixture) async throws in
            let copy = fixture.folder.file("copy.sqlite")
            guard StoreKind.current == .sqlite else {
                let refused = try await fixture.program.run("restore", copy, "--yes")
                #expect(refused.status == 64 && refused.standardError.contains("pg_restore"), "\(refused)")
                return
            }
            #expect(try await fixture.program.run("backup", copy).status == 0)
            let before = try fixture.store.dump()
            fixture.server.document("/s", "<r><item id='2'><name>n</name></item></r>", etag: "\"2\"")
            #expect(try await fixture.program.run("sync", "s", "--force").status == 0)
            let later = try fixture.store.dump()
            let restored = try await fixture.program.run("restore", copy, "--yes")
            #expect(restored.status == 0 && restored.standardOutput.contains("the former store is"), "\(restored)")
            #expect(try fixture.store.dump() == before)
            let files = try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path)
            let aside = try #require(files.first { $0.contains(".before-") && !$0.hasSuffix("-wal") })
            #expect(try dumpRows(path: fixture.folder.file(aside)) == later)
            #expect(!files.contains { $0.contains("restoring") })
            // It goes on from there, with the validators of its rows.
            #expect(try await fixture.program.run("sync", "s", "--force").status == 0)
            #expect(try fixture.store.dump() == later)
        }
    }

    /// Links stay, and what is put aside lies beside the file, whose file system it shares.
    @Test func aStoreBehindALinkIsReplaced() async throws {
        try await with { (fixture) async throws in
            let copy = fixture.folder.file("copy.sqlite")
            #expect(try await fixture.program.run("backup", copy).status == 0)
            let elsewhere = fixture.folder.file("elsewhere")
            try FileManager.default.createDirectory(atPath: elsewhere, withIntermediateDirectories: false)
            // Everything is in the file once its last connection is closed.
            let closing = try DatabaseQueue(path: fixture.store.path)
            try await closing.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
            try closing.close()
            try FileManager.default.moveItem(atPath: fixture.store.path, toPath: elsewhere + "/real.sqlite")
            try FileManager.default.createSymbolicLink(
                atPath: fixture.store.path, withDestinationPath: elsewhere + "/real.sqlite")
            let reader = try DatabaseQueue(path: elsewhere + "/real.sqlite")
            try await reader.write { try $0.execute(sql: "UPDATE s SET name = 'later'") }
            let used = try await fixture.program.run("restore", copy, "--yes")
            #expect(used.status == 1 && used.standardError.contains("another program has the store open"), "\(used)")
            try reader.close()
            let restored = try await fixture.program.run("restore", copy, "--yes")
            #expect(restored.status == 0, "\(restored)")
            #expect(try fixture.store.rows("SELECT name FROM s") == ["n"])
            let files = try FileManager.default.contentsOfDirectory(atPath: elsewhere)
            let aside = try #require(files.first { $0.hasPrefix("real.sqlite.before-") })
            #expect(restored.standardOutput.contains(aside))
            let link = try FileManager.default.destinationOfSymbolicLink(atPath: fixture.store.path)
            #expect(link == elsewhere + "/real.sqlite")
        }
    }

    /// Only a damaged store is replaced unread, and even that not under a run.
    @Test func aDamagedStoreIsReplacedOnceNobodyUsesIt() async throws {
        try await with { (fixture) async throws in
            let copy = fixture.folder.file("copy.sqlite")
            #expect(try await fixture.program.run("backup", copy).status == 0)
            let gate = Gate()
            fixture.server.route("/s") { _ in
                gate.wait()
                return [.close]
            }
            let running = try fixture.program.start(["sync", "s", "--force"])
            await gate.untilSomebodyWaits()
            let whole = try Data(contentsOf: URL(fileURLWithPath: fixture.store.path))
            let garbage = Data(repeating: 0x78, count: whole.count)
            try garbage.write(to: URL(fileURLWithPath: fixture.store.path))
            for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: fixture.store.path + suffix) }
            let refused = try await fixture.program.run("restore", copy, "--yes")
            #expect(refused.status == 1 && refused.standardError.contains("sources are running on"), "\(refused)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: fixture.store.path)) == garbage)
            running.signal(SIGKILL)
            _ = await running.end()
            gate.open()
            let restored = try await fixture.program.run("restore", copy, "--yes")
            #expect(restored.status == 0, "\(restored)")
            #expect(try fixture.store.rows("SELECT name FROM s") == ["n"])
        }
    }

    /// What cannot be opened for another reason stays.
    @Test func aStoreThatCannotBeOpenedIsNotReplaced() async throws {
        try await with { (fixture) async throws in
            let copy = fixture.folder.file("copy.sqlite")
            #expect(try await fixture.program.run("backup", copy).status == 0)
            // Its log is a folder, which no user may open as a file.
            for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: fixture.store.path + suffix) }
            let before = try Data(contentsOf: URL(fileURLWithPath: fixture.store.path))
            try FileManager.default.createDirectory(
                atPath: fixture.store.path + "-wal", withIntermediateDirectories: false)
            let refused = try await fixture.program.run("restore", copy, "--yes")
            #expect(refused.status == 1 && refused.standardError.contains("cannot be opened"), "\(refused)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: fixture.store.path)) == before)
        }
    }

    @Test func whatIsNoCopyIsRefused() async throws {
        try await with { (fixture) async throws in
            let copy = fixture.folder.file("copy.sqlite")
            #expect(try await fixture.program.run("backup", copy).status == 0)
            let before = try fixture.store.dump()
            func refuse(_ expected: String, status: Int32 = 1) async throws {
                let output = try await fixture.program.run("restore", copy, "--yes")
                #expect(output.status == status && output.standardError.contains(expected), "\(output)")
                #expect(try fixture.store.dump() == before)
            }
            let daemon = try fixture.program.start(["run"])
            var lines = daemon.errorLines.makeAsyncIterator()
            // Its first line comes once it has the store.
            #expect(await lines.next() != nil)
            try await refuse("another daemon (process ")
            daemon.signal(SIGTERM)
            _ = await daemon.end()
            let queue = try DatabaseQueue(path: copy)
            try await queue.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('tributary.next')") }
            try queue.close()
            try await refuse("it was migrated by a newer tributary than this")
            try Data("no database, but long enough to be read as one".utf8).write(to: URL(fileURLWithPath: copy))
            try await refuse("it is not an SQLite database")
            try FileManager.default.removeItem(atPath: copy)
            try await refuse("does not exist", status: 64)
        }
    }
}
