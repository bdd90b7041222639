import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing

/// The built program reads workbooks: `infer`, `check`, `plan`, `sync`, `replay`.
@Suite struct WorkbookCommandTests {
    private struct Fixture {
        let folder: TemporaryFolder
        let server: StubServer
        let store: TestStore

        var program: BuiltProgram { BuiltProgram("tributary", config: folder.file("sources.toml")) }

        func serve(_ body: [UInt8], type: String = "application/octet-stream") {
            server.route("/prices") { _ in StubServer.response(200, body, ["Content-Type": type]) }
        }

        func declare(_ options: String) throws {
            try folder.write(
                """
                \(store.declaration)
                [[sources.s.requests]]
                url = "\(server.url)/prices"
                sync = "mirror"
                \(options)
                [[sources.s.requests.tables]]
                table = "price"
                element = "row"
                key = ["sku"]
                [sources.s.requests.tables.columns]
                sku = "sku"
                price = { path = "'Price (EUR)'", type = "decimal" }
                since = { path = "Since", type = "date" }
                active = { path = "Active", type = "boolean" }
                """, to: "sources.toml")
        }

        func rows() throws -> [String] { try store.rows("SELECT sku, price, since FROM price ORDER BY sku") }
    }

    private func with(_ body: (Fixture) async throws -> Void) async throws {
        try await withStubServer { (server) async throws in
            try await withTemporaryFolder { (folder) async throws in
                try await withTestStore(in: folder) { store in
                    try await body(Fixture(folder: folder, server: server, store: store))
                }
            }
        }
    }

    /// A table below a title, behind another sheet.
    private static func workbook(_ price: String = "12.5") -> Workbook {
        func text(_ number: Int) -> String { "<c t=\"s\"><v>\(number)</v></c>" }
        let rows =
            "<row r=\"1\">\(text(0))</row><row r=\"3\">\(text(1))\(text(2))\(text(3))\(text(4))</row>"
            + "<row r=\"4\">\(text(5))<c><v>\(price)</v></c><c s=\"1\"><v>46082</v></c><c t=\"b\"><v>1</v></c></row>"
            + "<row r=\"5\">\(text(6))<c t=\"e\"><v>#N/A</v></c></row>"
        var workbook = Workbook(.init("Terms", Workbook.rows([["Net 30 days"]])), .init("Prices", rows))
        workbook.strings = ["Winter", "sku", "Price (EUR)", "Since", "Active", "A-1", "A-2"].map { "<t>\($0)</t>" }
        workbook.formats = ["dd.mm.yyyy"]
        return workbook
    }

    private static let sheet = "format = \"xlsx\"\nxlsx = { sheet = \"Prices\", skip = 2 }"

    @Test(.onEachStore) func aSheetBecomesRows() async throws {
        try await with { (fixture) async throws in
            fixture.serve(Self.workbook().bytes)
            try fixture.declare(Self.sheet + "\nkeep_bodies = 1")
            #expect(try await fixture.program.run("check").status == 0)
            let plan = try await fixture.program.run("plan", "s")
            #expect(plan.status == 2 && plan.standardOutput.contains("insert 2"), "\(plan)")
            let sync = try await fixture.program.run("sync")
            #expect(sync.status == 0, "\(sync)")
            #expect(try fixture.rows() == ["A-1|12.5|2026-03-01", "A-2|NULL|NULL"])
            // The digest of the file shows that it is the same.
            let again = try await fixture.program.run("sync", "--force")
            #expect(again.status == 0 && again.standardOutput.contains("unchanged"), "\(again)")
            // A kept body is read like a response.
            try fixture.store.execute("DELETE FROM price")
            let replay = try await fixture.program.run("replay", "s", "--yes")
            #expect(replay.status == 0, "\(replay)")
            #expect(try fixture.rows() == ["A-1|12.5|2026-03-01", "A-2|NULL|NULL"])
            fixture.serve(Self.workbook("13").bytes)
            let changed = try await fixture.program.run("sync", "--force")
            #expect(changed.status == 0 && changed.standardOutput.contains("1 updated"), "\(changed)")
            #expect(try fixture.rows() == ["A-1|13|2026-03-01", "A-2|NULL|NULL"])
        }
    }

    @Test func aMissingSheetAndAnotherFileDiscardTheRun() async throws {
        try await with { (fixture) async throws in
            func failure(_ body: [UInt8], _ options: String = Self.sheet) async throws -> String {
                fixture.serve(body)
                try fixture.declare(options)
                let output = try await fixture.program.run("sync", "--force")
                #expect(output.status == 1, "\(output)")
                return output.standardOutput + output.standardError
            }
            let whole = Self.workbook().bytes
            let missing = try await failure(whole, "format = \"xlsx\"\nxlsx = { sheet = \"Price\" }")
            #expect(missing.contains("has no sheet 'Price'; it has 'Terms', 'Prices'; did you mean 'Prices'?"))
            let compound: [UInt8] = [0xD0, 0xCF, 0x11, 0xE0] + [UInt8](repeating: 0, count: 600)
            #expect(try await failure(compound).contains("a workbook of an old kind (.xls)"))
            let title = try await failure(whole, "format = \"xlsx\"\nxlsx = { sheet = \"Prices\" }")
            #expect(title.contains("the header has no 'sku'"), "\(title)")
            let bomb = try await failure(whole, Self.sheet + "\nmax_body = \"2KiB\"")
            #expect(bomb.contains("raise max_body"), "\(bomb)")
            #expect(try await failure(whole, "").contains("a workbook; set format = \"xlsx\""))
            #expect(try await failure(Array("sku,price\n1,2\n".utf8)).contains("and is no workbook (.xlsx)"))
        }
    }

    @Test func workbooksOfAnArchiveAndOfAFolder() async throws {
        try await with { (fixture) async throws in
            try FileManager.default.createDirectory(
                atPath: fixture.folder.file("in"), withIntermediateDirectories: true)
            let first = Self.workbook()
            var second = Self.workbook("7")
            second.strings[5] = "<t>B-1</t>"
            second.strings[6] = "<t>B-2</t>"
            for (name, workbook) in [("a", first), ("b", second)] {
                try Data(workbook.bytes).write(to: URL(fileURLWithPath: fixture.folder.file("in/\(name).xlsx")))
            }
            let all = ["A-1|12.5|2026-03-01", "A-2|NULL|NULL", "B-1|7|2026-03-01", "B-2|NULL|NULL"]
            try fixture.declare(Self.sheet)
            let declaration = try String(contentsOfFile: fixture.folder.file("sources.toml"), encoding: .utf8)
            try fixture.folder.write(
                declaration.replacing(
                    "\(fixture.server.url)/prices", with: "file://\(fixture.folder.file("in"))/*.xlsx"),
                to: "sources.toml")
            let folder = try await fixture.program.run("sync")
            #expect(folder.status == 0, "\(folder)")
            #expect(try fixture.rows() == all)
            let zip = try #require(Tool.path("python3"))
            let script = """
                import zipfile
                with zipfile.ZipFile("\(fixture.folder.file("all.zip"))", "w") as file:
                    for name in ("a", "b"): file.write("\(fixture.folder.file("in"))/" + name + ".xlsx", name + ".xlsx")
                """
            let packed = try await BuiltProgram(path: zip, environment: [:]).run("-c", script)
            #expect(packed.status == 0, "\(packed)")
            fixture.serve(
                Array(try Data(contentsOf: URL(fileURLWithPath: fixture.folder.file("all.zip")))),
                type: "application/zip")
            try fixture.store.execute("DELETE FROM price")
            try fixture.declare(Self.sheet + "\ndocuments = \"*.xlsx\"")
            let archive = try await fixture.program.run("sync", "--full")
            #expect(archive.status == 0, "\(archive)")
            #expect(try fixture.rows() == all)
        }
    }

    @Test(.onEachStore) func aProposalNamesTheFormat() async throws {
        try await with { (fixture) async throws in
            var workbook = Self.workbook()
            workbook.sheets = [
                .init(
                    "Prices", workbook.sheets[1].rows.replacing("<row r=\"1\"><c t=\"s\"><v>0</v></c></row>", with: ""))
            ]
            let file = fixture.folder.file("Winter.xlsx")
            try Data(workbook.bytes).write(to: URL(fileURLWithPath: file))
            let proposal = try await fixture.program.run("infer", file)
            #expect(proposal.status == 0 && proposal.standardOutput.contains("format = \"xlsx\"\n"), "\(proposal)")
            #expect(proposal.standardOutput.contains("element = \"/csv/row\""), "\(proposal)")
            try fixture.folder.write(fixture.store.declaration + proposal.standardOutput, to: "sources.toml")
            let sync = try await fixture.program.run("sync")
            #expect(sync.status == 0 && sync.standardOutput.contains("2 inserted"), "\(sync)")
            // Another sheet, below a title.
            try Data(Self.workbook().bytes).write(to: URL(fileURLWithPath: file))
            let named = try await fixture.program.run("infer", file, "--sheet", "prices", "--skip", "2")
            #expect(
                named.standardOutput.contains("format = \"xlsx\"\nxlsx = { sheet = \"prices\", skip = 2 }\n"),
                "\(named)")
            let wrong = try await fixture.program.run("infer", file, "--sheet", "prices", "--format", "csv")
            #expect(
                wrong.status == 64 && wrong.standardError.contains("--sheet and --skip are for workbooks"), "\(wrong)")
            // An address whose suffix does not show it.
            fixture.serve(workbook.bytes)
            let unnamed = try await fixture.program.run("infer", fixture.server.url + "/prices")
            #expect(unnamed.status == 1 && unnamed.standardError.contains("--format xlsx"), "\(unnamed)")
            let declared = try await fixture.program.run("infer", "--format", "xlsx", fixture.server.url + "/prices")
            #expect(declared.status == 0 && declared.standardOutput.contains("format = \"xlsx\"\n"), "\(declared)")
        }
    }

    @Test func checkNamesMistakes() async throws {
        try await with { (fixture) async throws in
            func problem(_ options: String) async throws -> String {
                try fixture.declare(options)
                let output = try await fixture.program.run("check")
                #expect(output.status == 78, "\(output)")
                return output.standardError
            }
            let alone = try await problem("xlsx = { sheet = \"Prices\" }")
            #expect(alone.contains("sources.s.requests[1].xlsx: requires format = \"xlsx\""), "\(alone)")
            let other = try await problem("format = \"csv\"\nxlsx = { skip = 1 }")
            #expect(other.contains("sources.s.requests[1].xlsx: requires format = \"xlsx\""), "\(other)")
            let csv = try await problem("format = \"xlsx\"\ncsv = { delimiter = \";\" }")
            #expect(csv.contains("sources.s.requests[1].csv: requires format = \"csv\""), "\(csv)")
            let word = try await problem("format = \"xlsx\"\nxlsx = { shet = \"Prices\" }")
            #expect(word.contains("did you mean 'sheet'?"), "\(word)")
            let repair = try await problem("format = \"xlsx\"\nrepair = [\"entities\"]")
            #expect(repair.contains("repair: requires format = \"xml\""), "\(repair)")
        }
    }
}
