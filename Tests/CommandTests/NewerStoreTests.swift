import Foundation
import TestStores
import TestSupport
import Testing

/// A program that meets a store of another version.
@Suite(.onEachStore) struct NewerStoreTests {
    /// Every row that the store has, and on SQLite every byte of its file.
    private func content(_ store: TestStore) throws -> [String] {
        var content = try store.dump()
        for table in ["tributary_run", "tributary_source", "tributary_migration"] {
            content += try store.rows("SELECT * FROM \(table)")
        }
        if StoreKind.current == .sqlite {
            content.append(try Data(contentsOf: URL(fileURLWithPath: store.path)).base64EncodedString())
        }
        return content
    }

    @Test func itNamesTheVersionThatItNeedsAndWritesNothing() async throws {
        try await withTemporaryFolder { (folder) async throws in
            try await withTestStore(in: folder) { (store) async throws in
                let program = BuiltProgram("tributary", config: folder.file("sources.toml"))
                try folder.write("<r><i id='1'/></r>", to: "a.xml")
                try folder.write(
                    store.declaration + """
                        [[sources.s.requests]]
                        url = "file://\(folder.file("a.xml"))"
                        tables = [{ table = "t", element = "i", key = ["id"], columns = { id = "@id" } }]
                        """, to: "sources.toml")
                #expect(try await program.run("sync").status == 0)
                // Whoever applied a migration is noted beside it.
                let version = try await program.run("--version").standardOutput.dropFirst("tributary ".count).dropLast()
                #expect(try store.rows("SELECT DISTINCT program FROM tributary_migration") == [String(version)])
                try store.execute(
                    """
                    INSERT INTO tributary_migration (name, applied_at, program) VALUES
                        ('tributary.next', '2027-01-01T00:00:00Z', '1.2.0 (abcdef0)'),
                        ('tributary.later', '2027-02-01T00:00:00Z', '1.3.1 (fedcba9)')
                    """)
                if StoreKind.current == .sqlite {
                    try store.execute("INSERT INTO grdb_migrations VALUES ('tributary.next'), ('tributary.later')")
                    // From here on the file has every byte: nobody moves it there from the log.
                    try store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                }
                let before = try content(store)
                try folder.write("<r><i id='2'/></r>", to: "a.xml")
                let reason =
                    "it was migrated by tributary 1.3.1 (fedcba9), and this is \(version): "
                    + "install 1.3.1 (fedcba9) or newer"
                for command in [["sync", "--force"], ["run"], ["status"], ["history"], ["accept", "s", "--yes"]] {
                    let output = try await program.start(command).output()
                    #expect(output.status == 1 && output.standardError.contains(reason), "\(command): \(output)")
                }
                let check = try await program.run("check", "--store")
                #expect(check.status == 78 && check.standardError.contains(reason), "\(check)")
                #expect(try content(store) == before)
            }
        }
    }

    /// Programs before the first release made their tables in other steps.
    @Test func aStoreOfADevelopmentVersionIsRefused() async throws {
        try await withTemporaryFolder { (folder) async throws in
            try await withTestStore(in: folder) { (store) async throws in
                let program = BuiltProgram("tributary", config: folder.file("sources.toml"))
                try folder.write(store.declaration, to: "sources.toml")
                #expect(try await program.run("sync").status == 0)
                try store.execute("UPDATE tributary_migration SET name = 'tributary.1'")
                if StoreKind.current == .sqlite {
                    try store.execute(
                        "UPDATE grdb_migrations SET identifier = 'tributary.1' WHERE identifier = 'tributary.1.0'")
                    try store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                }
                let before = try content(store)
                for command in ["sync", "status"] {
                    let output = try await program.run(command)
                    #expect(
                        output.status == 1
                            && output.standardError.contains("a development version of tributary before 1.0.0")
                            && output.standardError.contains("make a new store"), "\(command): \(output)")
                }
                #expect(try content(store) == before)
            }
        }
    }
}
