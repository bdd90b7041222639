import Foundation
import GRDB
import TestSupport
import Testing

/// A database of SQLite's that others have filled, and that Tributary has not written yet.
@Suite struct UnseenDatabaseTests {
    @Test func itIsReadAndNotWritten() async throws {
        try await withTemporaryFolder { (folder) async throws in
            let path = folder.file("chinook.sqlite")
            let queue = try DatabaseQueue(path: path)
            try await queue.write { db in
                try db.execute(
                    sql: """
                        CREATE TABLE Vendor (VendorId INTEGER PRIMARY KEY, Name TEXT UNIQUE NOT NULL);
                        CREATE TABLE Item (ItemId INTEGER PRIMARY KEY, Sku TEXT UNIQUE NOT NULL, Title TEXT,
                            VendorId INTEGER REFERENCES Vendor(VendorId));
                        INSERT INTO Vendor VALUES (7, 'Acme');
                        INSERT INTO Item VALUES (1, 'a', 'old', 7);
                        """)
            }
            try queue.close()
            try folder.write("<r><i sku='a' title='new' by='Acme'/><i sku='b' title='b' by='Acme'/></r>", to: "a.xml")
            try folder.write(
                """
                [store]
                path = "chinook.sqlite"
                [[sources.s.requests]]
                url = "file://\(folder.file("a.xml"))"
                [[sources.s.requests.tables]]
                table = "item"
                element = "i"
                key = ["sku"]
                columns = { sku = "@sku", title = "@title", vendorid = { path = "@by", references = "vendor(name)" } }
                """, to: "sources.toml")
            let program = BuiltProgram("tributary", config: folder.file("sources.toml"))
            let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            for _ in 0..<2 {
                let check = try await program.run("check", "--store")
                #expect(check.status == 0, "\(check)")
                let status = try await program.run("status")
                #expect(status.status == 0 && status.standardOutput.contains("  new  "), "\(status)")
                let plan = try await program.run("plan", "s", "--json")
                #expect(plan.status == 2, "\(plan)")
                #expect(plan.standardOutput.contains("\"inserted\":1"), "\(plan)")
                #expect(plan.standardOutput.contains("\"updated\":1"), "\(plan)")
                for command in [["history"], ["tail"], ["changes", "s"], ["replay", "s", "--plan"]] {
                    let output = try await program.start(command).output()
                    #expect(!(output.standardOutput + output.standardError).contains("no such table"), "\(output)")
                }
                #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
            }
            #expect(try await program.run("sync").status == 0)
            #expect(try await sqlite(path, "SELECT group_concat(Title || VendorId) FROM Item") == "new7,b7")
            #expect(try await program.run("plan", "s").status == 0)
        }
    }
}
