import Foundation
import TestEngine
import TestSupport
import Testing

/// `infer` reads `12.500` as another column of the same document shows it, in any format whose numbers are texts.
@Suite struct InferredNumbersTests {
    private func infer(_ document: [UInt8], _ name: String, _ arguments: String...) async throws -> String {
        try await withTemporaryFolder { folder in
            try Data(document).write(to: URL(fileURLWithPath: folder.file(name)))
            let program = BuiltProgram("tributary", config: folder.file("sources.toml"))
            let output = try await program.start(["infer", folder.file(name)] + arguments).output()
            #expect(output.status == 0, "\(output)")
            return output.standardOutput
        }
    }

    private static let thousands =
        #"type = "integer", decimal_separator = ",", group_separator = "." }"#
        + "  # as in 12.500, as another column has 1.234,50\n"

    @Test func fieldsOfCSV() async throws {
        let toml = try await infer(Array("id;stock;price\n1;12.500;1.234,50\n2;8.250;9,95\n".utf8), "a.csv")
        #expect(toml.contains(#"stock = { path = "stock", "# + Self.thousands), "\(toml)")
    }

    @Test func cellsOfAPage() async throws {
        let page = """
            <html><body><table id="t"><tr><th>id</th><th>stock</th><th>price</th></tr>
            <tr><td>1</td><td>12.500</td><td>1.234,50</td></tr><tr><td>2</td><td>8.250</td><td>9,95</td></tr></table></body></html>
            """
        let toml = try await infer(Array(page.utf8), "a.html", "--format", "html")
        #expect(toml.contains(#"stock = { path = "string(td[2])", "# + Self.thousands), "\(toml)")
    }

    /// JSON's own numbers have a point, which says nothing of the texts beside them.
    @Test func stringsOfJSON() async throws {
        let rows = """
            [{"id": 1, "stock": "12.500", "price": "1.234,50", "mass": 1.125, "rate": 2.5},
             {"id": 2, "stock": "8.250", "price": "9,95", "mass": 2.250, "rate": 1.75}]
            """
        let toml = try await infer(Array(rows.utf8), "a.json")
        #expect(toml.contains(#"stock = { path = "stock", "# + Self.thousands), "\(toml)")
        #expect(toml.contains("mass  = { path = \"mass\", type = \"decimal\" }\n"), "\(toml)")
    }

    @Test func textsOfAWorkbook() async throws {
        func row(_ number: Int, _ texts: [String], _ mass: String) -> String {
            let cells = texts.map { "<c t=\"inlineStr\"><is><t>\($0)</t></is></c>" }.joined()
            return "<row r=\"\(number)\">\(cells)\(mass)</row>"
        }
        let workbook = Workbook(
            row(1, ["id", "stock", "price", "mass"], "") + row(2, ["1", "12.500", "1.234,50"], "<c><v>1.125</v></c>")
                + row(3, ["2", "8.250", "9,95"], "<c><v>2.5</v></c>"))
        let toml = try await infer(workbook.bytes, "a.xlsx", "--format", "xlsx")
        #expect(toml.contains(#"stock = { path = "stock", "# + Self.thousands), "\(toml)")
        #expect(toml.contains("mass  = { path = \"mass\", type = \"decimal\" }\n"), "\(toml)")
    }
}
