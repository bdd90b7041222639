import Foundation
import PostgresStore
import PostgresServer
import TestSupport
import Testing

/// The built program moves stores.
@Suite(.enabled(if: PostgresServer.isAvailable)) struct MoveStoreCommandTests {
    private struct Fixture {
        let folder: TemporaryFolder
        let database: TestDatabase

        var program: BuiltProgram { BuiltProgram("tributary", config: folder.file("sources.toml")) }

        /// Declares the source on a store.
        func declare(_ store: String) throws {
            try folder.write(
                """
                [store]
                \(store)
                [[sources.s.requests]]
                url = "file://\(folder.file("a.xml"))"
                sync = "mirror"
                tables = [{ table = "t", element = "i", key = ["id"], columns = { id = { path = "@id", type = "integer" }, name = "." } }]
                """, to: "sources.toml")
        }
    }

    private func withFixture(_ body: (Fixture) async throws -> Void) async throws {
        try await withPostgresDatabase { (database) async throws in
            try await withTemporaryFolder { (folder) async throws in
                try folder.write("<r><i id='1'>a</i><i id='2'>b</i></r>", to: "a.xml")
                let fixture = Fixture(folder: folder, database: database)
                try fixture.declare("path = \"store.sqlite\"")
                try await body(fixture)
            }
        }
    }

    @Test func thereAndBackAgain() async throws {
        try await withFixture { (fixture) async throws in
            let (program, url) = (fixture.program, fixture.database.connectionString)
            let nothing = try await program.run("move-store", "--yes", "--to", url)
            #expect(nothing.status == 1, "\(nothing)")
            #expect(nothing.standardError.contains(" yet; run `tributary sync` first"), "\(nothing)")
            #expect(try await program.run("sync").status == 0)
            let rows = try dumpRows(path: fixture.folder.file("store.sqlite"))

            let there = try await program.run("move-store", "--yes", "--to", url + " password=hush")
            #expect(there.status == 0, "\(there)")
            #expect(there.standardOutput.contains("1 source, 1 request, 1 run and 2 rows of the changelog"), "\(there)")
            #expect(there.standardOutput.contains("take out path") && !there.standardOutput.contains("hush"))
            #expect(try dumpRows(path: fixture.folder.file("store.sqlite")) == rows)
            let again = try await program.run("move-store", "--yes", "--to", url)
            #expect(again.status == 1 && again.standardError.contains("has recorded runs"), "\(again)")
            let dry = try await program.run("move-store", "--dry-run", "--to", url)
            #expect(dry.status == 1 && dry.standardError.contains("has recorded runs"), "\(dry)")

            try fixture.declare("url = \"\(url)\"")
            let synced = try await program.run("sync", "--force")
            #expect(synced.status == 0 && synced.standardOutput.contains("unchanged"), "\(synced)")
            let back = try await program.run("move-store", "--yes", "--json", "--to", fixture.folder.file("new.sqlite"))
            #expect(back.status == 0, "\(back)")
            #expect(back.standardOutput.contains("\"runs\":2"), "\(back)")
            #expect(try dumpRows(path: fixture.folder.file("new.sqlite")) == rows)
            try fixture.declare("path = \"new.sqlite\"")
            let last = try await program.run("sync", "--force")
            #expect(last.status == 0 && last.standardOutput.contains("unchanged"), "\(last)")
        }
    }

    @Test func aDaemonMustBeStoppedFirst() async throws {
        try await withFixture { (fixture) async throws in
            #expect(try await fixture.program.run("sync").status == 0)
            // As a daemon holds it.
            let descriptor = open(fixture.folder.file("store.sqlite-daemon"), O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
            defer { close(descriptor) }
            #expect(flock(descriptor, LOCK_EX) == 0 && write(descriptor, "1\n", 2) == 2)
            let moved = try await fixture.program.run("move-store", "--yes", "--to", fixture.folder.file("new.sqlite"))
            #expect(moved.status == 1 && moved.standardError.contains("a daemon runs on"), "\(moved)")
            #expect(!FileManager.default.fileExists(atPath: fixture.folder.file("new.sqlite")))
        }
    }

    /// Reads and writes many rows within memory for few, if there is time for it.
    @Test(
        .enabled(if: ProcessInfo.processInfo.environment["TRIBUTARY_ROWS"] != nil, "TRIBUTARY_ROWS=200000 runs it"))
    func manyRowsTakeNoMoreMemoryThanFew() async throws {
        let count = Int(ProcessInfo.processInfo.environment["TRIBUTARY_ROWS"] ?? "") ?? 200_000
        try await withFixture { (fixture) async throws in
            let path = fixture.folder.file("a.xml")
            try "<r>".write(toFile: path, atomically: true, encoding: .utf8)
            let file = try #require(FileHandle(forWritingAtPath: path))
            try file.seekToEnd()
            for start in stride(from: 1, through: count, by: 1000) {
                let items = (start..<min(start + 1000, count + 1)).map { "<i id='\($0)'>the name of item \($0)</i>" }
                try file.write(contentsOf: Data(items.joined().utf8))
            }
            try file.write(contentsOf: Data("</r>".utf8))
            try file.close()
            #expect(try await fixture.program.run("sync").status == 0)
            var program = fixture.program
            program.dataLimit = 64 << 20
            for (target, store) in [
                (fixture.database.connectionString, "url = \"\(fixture.database.connectionString)\""),
                (fixture.folder.file("new.sqlite"), "path = \"new.sqlite\""),
            ] {
                let began = ContinuousClock.now
                let moved = try await program.run("move-store", "--yes", "--to", target)
                #expect(moved.status == 0, "\(moved)")
                #expect(moved.standardOutput.contains("\(count)"))
                print("\(count) rows to \(store.prefix(4)): \(ContinuousClock.now - began)")
                try fixture.declare(store)
            }
        }
    }
}
