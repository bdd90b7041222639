import Foundation
import TestStores
import TestSupport
import Testing

/// The built program reads CSV and JSON Lines: `infer`, `check`, `plan`, `sync`.
@Suite struct CSVCommandTests {
    private struct Fixture {
        let folder: TemporaryFolder
        let store: TestStore

        var program: BuiltProgram { BuiltProgram("tributary", config: folder.file("sources.toml")) }

        func declare(_ request: String) throws {
            try folder.write("\(store.declaration)[[sources.s.requests]]\n\(request)\n", to: "sources.toml")
        }

        /// Runs `sync --full`, and expects that it ends well, or with this in its error.
        func sync(_ problem: String? = nil, sourceLocation: SourceLocation = #_sourceLocation) async throws {
            let output = try await program.run("sync", "--full")
            let isExpected =
                problem.map { (output.standardError + output.standardOutput).contains($0) } ?? (output.status == 0)
            #expect(isExpected, "\(output)", sourceLocation: sourceLocation)
        }
    }

    private func with(_ body: (Fixture) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try await withTestStore(in: folder) { store in try await body(Fixture(folder: folder, store: store)) }
        }
    }

    @Test(.onEachStore) func aProposalIsCheckedPlannedAndSynced() async throws {
        try await with { (fixture) async throws in
            try fixture.folder.write(
                "Art.-Nr.;Preis (EUR);Name\n1;12,50;\"Schraube; M3\"\n2;3,00;Mutter\n", to: "Artikel.csv")
            let proposal = try await fixture.program.run("infer", fixture.folder.file("Artikel.csv"))
            #expect(proposal.status == 0, "\(proposal)")
            #expect(proposal.standardOutput.contains("csv = { delimiter = \";\" }"), "\(proposal)")
            try fixture.folder.write(fixture.store.declaration + proposal.standardOutput, to: "sources.toml")
            #expect(try await fixture.program.run("check").status == 0)
            let plan = try await fixture.program.run("plan", "artikel")
            #expect(plan.status == 2 && plan.standardOutput.contains("insert 2"), "\(plan)")
            try await fixture.sync()
            #expect(
                try fixture.store.rows("SELECT art_nr, name FROM artikel ORDER BY art_nr") == [
                    "1|Schraube; M3", "2|Mutter",
                ],
                "\(proposal.standardOutput)")
            let again = try await fixture.program.run("sync", "--full")
            #expect(again.standardOutput.contains("2 rows unchanged"), "\(again)")
        }
    }

    private func items(_ options: String = "", column: String = "\"'Price (EUR)'\"") -> String {
        """
        url = "items.txt"
        format = "csv"
        sync = "mirror"
        \(options)
        [[sources.s.requests.tables]]
        table = "item"
        element = "row"
        key = ["id"]
        [sources.s.requests.tables.columns]
        id = { path = "id", type = "integer" }
        price = { path = \(column), type = "decimal", decimal_separator = "," }
        note = { path = "note", default = "-" }
        """
    }

    @Test func rowsOfAnyDialect() async throws {
        try await with { (fixture) async throws in
            func declare(_ request: String) throws {
                try fixture.declare(
                    request.replacing("items.txt", with: "file://\(fixture.folder.file("items.txt"))"))
            }
            let rows = "SELECT id, price, note FROM item ORDER BY id"
            try declare(items("csv = { delimiter = \";\", encoding = \"windows-1252\", skip = 1 }"))
            let latin = try #require("Stand: heute\nid;Price (EUR);note\n1;2,5;süß\n2;3;\n".data(using: .windowsCP1252))
            try latin.write(to: URL(fileURLWithPath: fixture.folder.file("items.txt")))
            try await fixture.sync()
            #expect(try fixture.store.rows(rows) == ["1|2.5|süß", "2|3|-"])

            // A row that is gone is deleted; a column with a default may be missing; names may come from elsewhere.
            try declare(items("csv = { delimiter = \"|\", header = [\"id\", \"Price (EUR)\"] }"))
            try fixture.folder.write("1|2,75\n", to: "items.txt")
            try await fixture.sync()
            #expect(try fixture.store.rows(rows) == ["1|2.75|-"])

            try fixture.folder.write("1|2,75\n2\n", to: "items.txt")
            try await fixture.sync("line 2 of the CSV body: there is 1 field, not the 2 that 'header' names")
            try declare(items(column: "\"Price__EUR_\""))
            try fixture.folder.write("id,Price_EUR,note\n1,2,3\n", to: "items.txt")
            try await fixture.sync(
                "column 'price' of table 'item': the header has no 'Price__EUR_'; did you mean 'Price_EUR'?"
            )
            // What a header has is told once, and shortened.
            let long = String(repeating: "x", count: 900)
            try fixture.folder.write("\(long)\n1\n", to: "items.txt")
            try await fixture.sync(
                "the header has no 'id'; column 'price' of table 'item': the header has no 'Price__EUR_'; it has "
                    + long.prefix(40) + "…")
            try fixture.folder.write("id;Price (EUR)\n1;2\n", to: "items.txt")
            try await fixture.sync("': set csv = { delimiter = \";\" }")
            try fixture.folder.write("id,Price__EUR_\n1,x\n", to: "items.txt")
            try await fixture.sync(
                "line 2, <row> (id = \"1\"): column 'price' of table 'item': \"x\" is not a decimal number")
            try fixture.folder.write("id,Price__EUR_\n", to: "items.txt")
            try await fixture.sync("the body has a header and no rows; set allow_empty = true")
            #expect(try fixture.store.rows(rows) == ["1|2.75|-"])
            try fixture.folder.write("", to: "items.txt")
            try declare(items("allow_empty = true"))
            try await fixture.sync("the body has no header")
            try fixture.folder.write("id,Price (EUR)\n", to: "items.txt")
            try await fixture.sync()
            #expect(try fixture.store.rows(rows) == [])
        }
    }

    @Test func linesOfJSON() async throws {
        try await with { (fixture) async throws in
            try fixture.folder.write(
                "{\"id\": 1, \"lines\": [{\"sku\": \"a\"}, {\"sku\": \"b\"}]}\n{\"id\": 2, \"lines\": []}\n",
                to: "orders.jsonl")
            try fixture.declare(
                """
                url = "file://\(fixture.folder.file("orders.jsonl"))"
                [[sources.s.requests.tables]]
                table = "purchase"
                element = "/jsonl/row"
                key = ["id"]
                columns = { id = { path = "id", type = "integer" } }
                [[sources.s.requests.tables]]
                table = "line"
                element = "row/lines"
                key = ["purchase", "sku"]
                columns = { purchase = { parent = "purchase" }, sku = "sku" }
                """)
            try await fixture.sync()
            #expect(try fixture.store.rows("SELECT id FROM purchase ORDER BY id") == ["1", "2"])
            #expect(try fixture.store.rows("SELECT purchase, sku FROM line ORDER BY sku") == ["1|a", "1|b"])
            try fixture.folder.write("{\"id\": 1}\n{\"id\": \n", to: "orders.jsonl")
            try await fixture.sync("line 2 of the JSON body: the line ends within its value")
        }
    }
}
