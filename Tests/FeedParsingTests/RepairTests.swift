import FeedModel
import TestEngine
import TestSupport
import Testing

@testable import TributaryEngine

/// `repair`: ill-formed XML on its way into a store.
@Suite struct RepairTests {
    private static let document =
        "<items><item id='1&2'><name>Fish&nbsp;& Chips\u{1}</name></item><item id='3'><name>a <b, c<3</name></item></items>"
    private static let all = "repair = [\"characters\", \"entities\", \"ampersands\"]"

    private func sync(_ fixture: EngineFixture, _ options: String, mode: RefreshMode = .force) async throws -> RunReport
    {
        try #require(try await fixture.sync(EngineFixture.request("/a", options), mode: mode).first)
    }

    @Test func whatIsMendedIsStoredAndTold() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", Self.document, etag: "\"1\"")
            #expect(try await sync(fixture, "").outcome == .discarded)
            let report = try await sync(fixture, Self.all)
            #expect(report.outcome == .committed, "\(report)")
            #expect(
                try fixture.rows("SELECT id, name FROM item ORDER BY id")
                    == ["1&2|Fish\u{A0}& Chips", "3|a <b, c<3"])
            let note = report.note ?? ""
            #expect(note.contains("request '1' was repaired: 1 × a character that XML forbids"), "\(note)")
            #expect(note.contains("1 × an entity of HTML's, 4 × a bare '&' or '<'"), "\(note)")
            #expect(try await sync(fixture, Self.all).outcome == .unchanged)
            // Another repair is another declaration: a 304 would keep what it was.
            #expect(try await sync(fixture, "repair = [\"ampersands\"]").outcome == .discarded)
        }
    }

    @Test func aDocumentThatNeedsNoRepairHasNoNote() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items(["1"], name: "x &amp; y"))
            let report = try await sync(fixture, Self.all)
            #expect(report.outcome == .committed && report.note == nil, "\(report)")
        }
    }

    @Test func aDocumentThatBreaksOffIsDiscarded() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", String(Self.document.dropLast(4)))
            let report = try await sync(fixture, Self.all)
            #expect(report.outcome == .discarded, "\(report)")
            #expect(try fixture.rows("SELECT id FROM item") == [])
        }
    }

    @Test(arguments: [
        ("repair = [\"entitys\"]", "did you mean 'entities'?"),
        ("repair = [\"ampersands\"]\nformat = \"json\"", "repair: requires format = \"xml\""),
        ("repair = [\"ampersands\"]\ncsv = { delimiter = \";\" }", "found 'repair' and 'csv'; give only one"),
        ("repair = true", "expected an array of strings"),
    ])
    func wrongDeclarations(options: String, expected: String) async throws {
        try await EngineFixture.expectMistake(EngineFixture.request("/a", options), expected)
    }
}
