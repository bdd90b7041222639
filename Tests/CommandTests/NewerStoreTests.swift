import Foundation
import TestStores
import TestSupport
import Testing

/// A program that meets a store which a newer one has migrated.
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

    /// Tables of the programs before 1.0.0 do not say who made them.
    @Test func tablesOfTheFirstProgramsAreBroughtUpToDate() async throws {
        try await withTemporaryFolder { (folder) async throws in
            try await withTestStore(in: folder) { (store) async throws in
                let program = BuiltProgram("tributary", config: folder.file("sources.toml"))
                try folder.write(store.declaration, to: "sources.toml")
                #expect(try await program.run("sync").status == 0)
                try store.execute("DROP TABLE tributary_acceptance")
                if StoreKind.current == .sqlite {
                    try store.execute(
                        """
                        DROP TABLE tributary_migration;
                        DELETE FROM grdb_migrations WHERE identifier = 'tributary.acceptance'
                        """)
                } else {
                    try store.execute(
                        """
                        ALTER TABLE tributary_migration DROP COLUMN program;
                        DELETE FROM tributary_migration WHERE name = 'tributary.acceptance'
                        """)
                }
                let output = try await program.run("sync")
                #expect(output.status == 0, "\(output)")
                let noted = try store.rows("SELECT name FROM tributary_migration WHERE program IS NOT NULL")
                #expect(noted == ["tributary.acceptance"])
                #expect(try store.rows("SELECT count(*) FROM tributary_acceptance") == ["0"])
            }
        }
    }
}
