import FeedModel
import FeedStaging
import Foundation
import TestEngine
import TestSupport
import Testing
import XMLStream

@testable import FeedConfiguration
@testable import FeedParsing
@testable import TributaryEngine

/// Records that wait for a value after them, and expressions that many documents share.
@Suite struct WaitingRecordTests {
    private static let waiting = """
        [[sources.s.requests]]
        url = "URL/a"
        tables = [{ table = "t", element = "item", columns = { a = "a", currency = "../currency" } }]
        """

    /// `count` records of one mebibyte, before the value that they all need.
    private func document(_ count: Int) -> String {
        let record = "<item><a>" + String(repeating: "x", count: 1 << 20) + "</a></item>"
        return "<list>" + String(repeating: record, count: count) + "<currency>EUR</currency></list>"
    }

    /// They have 64 MiB of their own, beside the 32 MiB of the open records.
    @Test func recordsThatWaitHaveTheirOwnMemory() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", document(50))
            let report = try #require(try await fixture.sync(Self.waiting).first)
            #expect(report.error == nil)
            let rows = try fixture.rows("SELECT count(*), min(currency), min(length(a)) FROM t")
            // Equal records without a key are one row.
            #expect(rows == ["1|EUR|\(1 << 20)"])
        }
    }

    @Test func theErrorNamesTheLimitAndTheValue() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", document(66))
            let report = try #require(try await fixture.sync(Self.waiting).first)
            let expected =
                "more than 64 MiB of records of table 't', and of values for them, wait for '../currency', which comes "
                + "after them in the document"
            #expect(report.error?.contains(expected) == true, "\(report.error ?? "no error")")
        }
    }

    /// The values of one document do not reach another, and each document has its own facts.
    @Test func documentsShareCompiledExpressions() async throws {
        try await EngineFixture.with { (fixture) async throws in
            for number in 1...40 {
                let name = number == 20 ? "" : "<n>name \(number)</n>"
                try fixture.folder.write("<r><i id='\(number)'>\(name)</i></r>", to: "in-\(number).xml")
            }
            let sources = """
                [[sources.s.requests]]
                url = "file://\(fixture.folder.path)/in-*.xml"
                [[sources.s.requests.tables]]
                table = "t"
                element = "i"
                key = ["id"]
                where = "id <> '7'"
                [sources.s.requests.tables.columns]
                id = "@id"
                name = { path = "n", stored = false }
                member = { response = "member" }
                loud = { sql = "upper(name)" }
                file = { sql = "replace(replace(member, 'in-', ''), '.xml', '')" }
                """
            let report = try #require(try await fixture.sync(sources).first)
            #expect(report.error == nil && report.counts.inserted == 39, "\(report)")
            #expect(try fixture.rows("SELECT count(*) FROM t WHERE loud = 'NAME ' || id AND file = id") == ["38"])
            #expect(try fixture.rows("SELECT id, loud FROM t WHERE loud IS NULL") == ["20|NULL"])
        }
    }

    @Test func expressionsAreLentOnceAtATime() throws {
        let pool = ExpressionPool()
        func table(_ sql: String) throws -> TableMapping {
            TableMapping(
                table: "t", element: .init(), writtenElement: "i",
                columns: [
                    ColumnMapping(name: "a", origin: .path(.init(), written: "a")),
                    ColumnMapping(name: "b", origin: .sql(sql)),
                ])
        }
        let upper = try table("upper(a)")
        func take(_ table: TableMapping, _ affinity: Affinity = .text) throws -> CompiledExpressions {
            try pool.take(table) { _ in ["a": affinity] }
        }
        let first = try take(upper)
        let second = try take(upper)
        #expect(first !== second)
        pool.giveBack(first)
        #expect(try take(table("lower(a)")) !== first)
        #expect(try take(upper, .integer) !== first)
        #expect(try take(upper) === first)
        #expect(throws: MappingError.self) { try take(table("nothing(a)")) }
    }
}
