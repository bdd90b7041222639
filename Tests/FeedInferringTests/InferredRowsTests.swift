import FeedInferring
import FeedModel
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing
import XMLStream

@testable import TributaryEngine

/// What `infer` proposes for a document loads every record of it, into either store.
@Suite(.onEachStore) struct InferredRowsTests {
    struct Document: CustomTestStringConvertible {
        var testDescription: String
        var text: String
        /// The tables proposed, with the number of their records.
        var rows: [String]
        /// A part of the proposal.
        var proposed: [String] = []
    }

    private static let documents = [
        Document(
            testDescription: "senses within senses, as in a dictionary",
            text: """
                <d><entry id="a"><sense n="1"><def>x</def><sense n="1"><def>y</def></sense><sense n="2"><def>y</def></sense></sense>
                <sense n="2"><def>z</def></sense></entry><entry id="b"><sense n="1"><def>x</def></sense></entry></d>
                """,
            rows: ["entry 2", "sense 5"],
            proposed: [
                "ordinal = \"parent\"", "# 2 records; id is unique in all 2 records.",
                "parent_id = { parent = \"sense\" }",
            ]),
        Document(
            testDescription: "two containers in one record",
            text: """
                <l><order nr="1"><lines><line sku="a"/><line sku="b"/></lines><returned><line sku="a"/></returned></order>
                <order nr="2"><lines><line sku="a"/></lines><lines><line sku="a"/></lines></order></l>
                """,
            rows: ["line 4", "order 2"], proposed: ["ordinal = \"parent\""]),
        Document(
            testDescription: "equal siblings, with children",
            text: """
                <l><o><p>x</p><q k="1"><t>1</t><t>1</t></q><q k="1"><t>1</t><t>2</t></q></o><o><p>x</p><q k="1"><t>1</t><t>1</t></q></o>
                <o><p>x</p></o></l>
                """,
            rows: ["o 3", "q 3", "t 6"],
            proposed: [
                "the key is the position in the document, because no value that may be a key is unique, and some records are equal"
            ]),
        Document(
            testDescription: "subfields under one tag again and again",
            text: """
                <c><record><leader>1</leader><datafield tag="650"><subfield code="a">x</subfield><subfield code="a">y</subfield></datafield>
                <datafield tag="650"><subfield code="a">x</subfield></datafield></record>
                <record><leader>1</leader><datafield tag="650"><subfield code="a">x</subfield></datafield></record></c>
                """,
            rows: ["datafield 3", "record 2", "subfield 4"]),
        Document(
            testDescription: "numbers and times that are equal though their texts are not",
            text: """
                <l><a><e id="0" x="p"/><e id="-0" x="p"/><e id="3" x="p"/></a><b><f date="2026-01-01T00:00:00Z"/>
                <f date="2026-01-01T01:00:00+01:00"/></b></l>
                """,
            rows: ["e 3", "f 2"]),
        Document(
            testDescription: "texts that are nearly equal",
            text: """
                <l><e id="a"/><e id="A"/><e id="\u{E1}"/><e id="a\u{301}"/><e id="a\u{A0}"/><e id="1"/><e id="1.0"/><e id="01"/></l>
                """,
            rows: ["e 8"], proposed: ["id is unique in all 8 records"]),
        Document(
            testDescription: "one name in several namespaces",
            text: """
                <r xmlns:a="urn:a"><i><a:id>x</a:id><id>1</id><a:t k="1"/><t k="2"/><t k="3"/></i>
                <i><id>2</id><a:id>x</a:id><t k="2"/><a:t k="2"/></i></r>
                """,
            rows: ["i 2", "t 3"], proposed: ["\"{}id\"", "element = \"/r/i/{}t\"", "\"a:t/@k\""]),
        Document(
            testDescription: "ids that some records lack",
            text: "<l><e id='1' v='x'/><e v='x'/><e v='x'/><e id='2' v='x'/></l>", rows: ["e 4"]),
        Document(
            testDescription: "tables in tables",
            text: """
                <doc><table><tr><td>1</td><td><table><tr><td>1</td></tr><tr><td>1</td></tr></table></td></tr><tr><td>1</td></tr></table>
                <table><tr><td>1</td></tr></table></doc>
                """,
            rows: []),
    ]

    @Test(arguments: documents) func everyRecordIsARow(document: Document) async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/feed", document.text)
            let toml = try MappingProposal(url: "URL/feed", sourceName: "s") { handler in
                let parser = XMLStreamParser(handler: handler)
                try Array(document.text.utf8).withUnsafeBytes { try parser.parse($0) }
                try parser.finish()
            }.toml
            for part in document.proposed { #expect(toml.contains(part), "\(part)\nin\n\(toml)") }
            let report = try #require(try await fixture.sync(toml, mode: .full).first)
            #expect(report.error == nil && report.counts.replaced == 0 && report.skipped == 0, "\(report)\n\(toml)")
            let tables = Set(toml.matches(of: /(?m)^table = "(.*)"$/).map { String($0.output.1) })
            let rows = try tables.sorted().map { try "\($0) " + fixture.rows("SELECT count(*) FROM \"\($0)\"")[0] }
            if !document.rows.isEmpty { #expect(rows == document.rows.sorted(), "\(toml)") }
            let places = toml.matches(of: /(?m)^element = "(.*)"$/).map { $0.output.1.split(separator: "/").last ?? "" }
            let last = Set(places.map { $0.replacing(/^.*[:}]/, with: "") })
            let records = last.map { document.text.components(separatedBy: "<\($0)").count - 1 }.reduce(0, +)
            if document.rows.isEmpty { #expect(report.counts.inserted >= records, "\(toml)") }
            let again = try #require(try await fixture.sync(toml, mode: .full).first)
            #expect(again.counts == MergeCounts(unchanged: report.counts.inserted), "\(again)\n\(toml)")
        }
    }

    @Test func recordsKeepTheOnesAroundThem() async throws {
        try await EngineFixture.with { (fixture) async throws in
            func sync(_ document: String, _ expected: [String]) async throws {
                fixture.server.document("/feed", document)
                let toml = try MappingProposal(url: "URL/feed", sourceName: "s") { handler in
                    let parser = XMLStreamParser(handler: handler)
                    try Array(document.utf8).withUnsafeBytes { try parser.parse($0) }
                    try parser.finish()
                }.toml
                let report = try #require(try await fixture.sync(toml, mode: .full).first)
                #expect(report.error == nil && report.counts.replaced == 0, "\(report)\n\(toml)")
                let rows = try fixture.rows(
                    "SELECT s.n, p.n FROM sense s LEFT JOIN sense p ON s.parent_id = p.id ORDER BY s.n")
                #expect(rows == expected, "\(toml)")
            }
            try await sync(
                """
                <d><entry id="a"><sense n="1"><x/><sense n="2"><x/><sense n="3"/></sense><sense n="4"/></sense><sense n="5"/></entry>
                <entry id="b"><sense n="6"/></entry></d>
                """, ["1|NULL", "2|1", "3|2", "4|1", "5|NULL", "6|NULL"])
        }
    }

    @Test func whatLeavesItsRecordLeavesNoRow() async throws {
        try await EngineFixture.with { (fixture) async throws in
            func document(_ second: String) -> String {
                """
                <l><o id="1"><p sku="a"><t>x</t><t>y</t></p><p sku="b"><t>z</t></p></o><o id="2"><p sku="a"><t>w</t></p></o>
                <o id="3">\(second)</o></l>
                """
            }
            let text = document("<p sku='a'><t>u</t><t>v</t></p><p sku='c'><t>s</t></p>")
            let toml = try MappingProposal(url: "URL/feed", sourceName: "s") { handler in
                let parser = XMLStreamParser(handler: handler)
                try Array(text.utf8).withUnsafeBytes { try parser.parse($0) }
                try parser.finish()
            }.toml
            for key in ["key = [\"o_id\", \"sku\"]", "key = [\"p_id\", \"position\"]"] {
                #expect(toml.contains("\(key)\nsync = \"mirror\"\nwithin = "), "\(toml)")
            }
            fixture.server.document("/feed", text)
            _ = try await fixture.sync(toml, mode: .full)
            fixture.server.document("/feed", document("<p sku='a'><t>v</t></p>"))
            let report = try #require(try await fixture.sync(toml, mode: .full).first)
            #expect(report.error == nil && report.counts.deleted == 3, "\(report)")
            #expect(try fixture.rows("SELECT sku FROM p WHERE o_id = '3'") == ["a"])
            #expect(try fixture.rows("SELECT count(*) FROM t") == ["5"])
            // What has left the document, stays.
            fixture.server.document("/feed", "<l><o id='1'><p sku='a'><t>x</t></p></o></l>")
            _ = try await fixture.sync(toml, mode: .full)
            #expect(try fixture.rows("SELECT count(*) FROM o") == ["3"])
            #expect(try fixture.rows("SELECT count(*) FROM p") == ["3"])
        }
    }
}
