import FeedConfiguration
import FeedModel
import FeedStores
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing

@testable import TributaryEngine

/// Documents whose form changes: who hears of it, and how often.
@Suite struct DriftTests {
    private func document(_ mapped: Set<String>, _ unmapped: Set<String> = [], filled: Set<String>, empty: Set<String>)
        -> DocumentShape
    {
        var shape = DocumentShape()
        shape.mapped = mapped
        shape.unmapped = unmapped
        shape.filled = filled
        shape.empty = empty
        return shape
    }

    @Test(.onEachStore) func aRenamedElementIsTold() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.accept()
            let configuration = HookFixture.mapping() + EngineFixture.hook("\"drifted\"")
            fixture.server.document("/a", "<items><item id='1'><name>n</name><old/></item></items>")
            try await fixture.sync(configuration)
            try await HookFixture.run(fixture, configuration) { (hooks) async throws in
                // An attribute, and an element that was there before, are nothing new.
                fixture.server.document("/a", "<items><item id='1' more='1'><name>m</name><old>1</old></item></items>")
                try await hooks.refresh()
                fixture.server.document("/a", "<items><item id='1'><title>n</title><old/></item></items>")
                try await hooks.refresh()
                let note = try fixture.rows("SELECT note FROM tributary_source")
                #expect(
                    note == [
                        "request '1' has drifted: new elements that nothing maps: /items/item/title; "
                            + "no record has a value for thing_s.name"
                    ])
                // The same again is not told again.
                fixture.server.document("/a", "<items><item id='2'><title>n</title></item></items>")
                try await hooks.refresh()
                fixture.server.document("/a", "<items><item id='2'><name>x</name><cost/></item></items>")
                try await hooks.refresh()
                let events = try await hooks.events(count: 2)
                #expect(events.map(\.type) == ["drifted", "drifted"])
                #expect(
                    events.map(\.drift) == [
                        [Drift(request: "1", unmapped: ["/items/item/title"], empty: ["thing_s.name"], repeated: [])],
                        [Drift(request: "1", unmapped: ["/items/item/cost"], empty: [], repeated: [])],
                    ])
                #expect(try fixture.rows("SELECT count(*) FROM tributary_run WHERE drift IS NOT NULL") == ["2"])
            }
        }
    }

    /// A changed form waits for `accept`; once it is accepted, it is the usual one.
    @Test(.onEachStore) func aChangedFormBlocksTheRun() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = HookFixture.mapping("s", "drift = \"block\"")
            fixture.server.document("/a", "<items><item id='1'><name>n</name></item></items>")
            #expect(try await fixture.sync(mapping).first?.outcome == .committed)
            fixture.server.document("/a", "<items><item id='1'><title>n</title></item></items>")
            let blocked = try #require(try await fixture.sync(mapping).first)
            #expect(blocked.outcome == .blocked)
            #expect(
                blocked.error?.contains(
                    "request '1' has drifted: new elements that nothing maps: /items/item/title; "
                        + "no record has a value for thing_s.name") == true, "\(blocked.error ?? "")")
            #expect(try fixture.rows("SELECT name FROM thing_s") == ["n"])
            // It is so each time, until it is accepted.
            #expect(try await fixture.sync(mapping).first?.outcome == .blocked)
            try BlockedRunTests.accept(fixture, mapping)
            let accepted = try #require(try await fixture.sync(mapping, mode: .whenDue).first)
            #expect(accepted.outcome == .committed && accepted.drift.count == 1, "\(accepted.error ?? "")")
            fixture.server.document("/a", "<items><item id='2'><title>m</title></item></items>")
            #expect(try await fixture.sync(mapping).first?.outcome == .committed)
        }
    }

    /// A plan says what a run would say.
    @Test func aPlanSaysThatAChangedFormBlocks() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = HookFixture.mapping("s", "drift = \"block\"")
            fixture.server.document("/a", "<items><item id='1'><name>n</name></item></items>")
            try await fixture.sync(mapping)
            fixture.server.document("/a", "<items><item id='1'><name>n</name><cost/></item></items>")
            let service = try fixture.service(mapping, clock: SystemClock())
            defer { try? service.close() }
            let source = try #require(service.configuration[source: "s"])
            let plan = try await service.plan(source, bodies: [:], ignoresValidators: false, onChange: { _ in })
            #expect(plan.blocked?.contains("/items/item/cost") == true, "\(plan.blocked ?? "")")
        }
    }

    /// A later document has a second value where one was enough: only the first counts, which must not stay unknown.
    @Test func aSecondValueIsToldOnce() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = HookFixture.mapping("s", "drift = \"block\"")
            fixture.server.document("/a", "<items><item id='1'><name>n</name></item></items>")
            #expect(try await fixture.sync(mapping).first?.outcome == .committed)
            let several = "<items><item id='1'><name>m</name><name>o</name></item></items>"
            fixture.server.document("/a", several)
            let blocked = try #require(try await fixture.sync(mapping).first)
            #expect(blocked.outcome == .blocked, "\(blocked)")
            #expect(
                blocked.error?.contains("some records have several values for thing_s.name, and the first counts")
                    == true,
                "\(blocked.error ?? "")")
            try BlockedRunTests.accept(fixture, mapping)
            let accepted = try #require(try await fixture.sync(mapping, mode: .whenDue).first)
            #expect(accepted.outcome == .committed && accepted.drift.map(\.repeated) == [["thing_s.name"]])
            for name in ["p", "q"] {
                fixture.server.document("/a", several.replacing("m<", with: name + "<"))
                #expect(try await fixture.sync(mapping).first?.outcome == .committed)
            }
            #expect(try fixture.rows("SELECT name FROM thing_s") == ["q"])
        }
    }

    /// Under another declaration, the next document is a first one again; where nothing is committed, nothing is told.
    @Test func anotherDeclarationBeginsAgain() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = HookFixture.mapping()
            func drift(_ document: String, _ mapping: String) async throws -> [Drift] {
                fixture.server.document("/a", document)
                let report = try #require(try await fixture.sync(mapping).first)
                let stored = try fixture.service(mapping, clock: SystemClock()).store
                defer { try? stored.close() }
                #expect(try stored.read { try $0.runs.last(of: "s", limit: 1) }.first?.drift == report.drift)
                return report.drift
            }
            #expect(try await drift("<items><item id='1'><name>n</name></item></items>", mapping) == [])
            let other = mapping.replacing("name = \"name\"", with: "name = \"title\"")
            #expect(try await drift("<items><item id='1'><title>n</title></item></items>", other) == [])
            let discarded = "<items><item id='1'><new/></item><item></items>"
            #expect(try await drift(discarded, other) == [])
            let good = "<items><item id='1'><new/></item></items>"
            #expect(try await drift(good, other).map(\.unmapped) == [["/items/item/new"]])
        }
    }

    /// What one document of several has is no drift of the others.
    @Test func theDocumentsOfARunAreLookedAtTogether() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = HookFixture.mapping("s", "documents = \"*.xml\"")
            func serve(_ documents: [String]) throws {
                let members = documents.enumerated().map { (name: "\($0.offset).xml", content: $0.element) }
                let archive = Tar.archive(members)
                fixture.server.route("/a") { _ in StubServer.response(200, archive) }
            }
            try serve(["<items><item id='1'><name>n</name></item></items>", "<items/>"])
            #expect(try await fixture.sync(mapping).first?.drift == [])
            try serve(["<items/>", "<items><item id='2'><name>n</name></item></items>"])
            #expect(try await fixture.sync(mapping).first?.drift == [])
            try serve(["<items><item id='3'/></items>", "<items><item id='2'/></items>"])
            #expect(try await fixture.sync(mapping).first?.drift.map(\.empty) == [["thing_s.name"]])
        }
    }

    /// A wrong path fills a column with NULL. The first commit of a declaration says so, and later ones do not.
    @Test(.onEachStore) func aColumnWithoutAValueIsNotedAtFirst() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let right = HookFixture.mapping()
            let wrong = right.replacing("name = \"name\"", with: "name = \"nmae\"")
            fixture.server.document("/a", "<items><item id='1'><name>n</name></item><item id='2'/></items>")
            let first = try #require(try await fixture.sync(wrong).first)
            let note = "no record has a value for thing_s.name; correct the path if the feed has such values"
            #expect(first.outcome == .committed && first.note == "request '1': " + note, "\(first)")
            #expect(first.requests.map(\.note) == [note])
            #expect(try fixture.rows("SELECT note FROM tributary_source") == ["request '1': " + note])
            #expect(try await fixture.sync(wrong, mode: .full).first?.note == nil)
            // One record of two suffices.
            #expect(try await fixture.sync(right).first?.note == nil)
            #expect(try await fixture.sync(wrong).first?.note == "request '1': " + note)
        }
    }

    /// A second element of a record is not lost without a word: the first commit of a declaration and each plan say so.
    @Test(.onEachStore) func aRepeatedElementOfWhichTheFirstCountsIsNoted() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = HookFixture.mapping()
            fixture.server.document(
                "/a",
                "<items><item id='1'><name/><name>n</name></item><item id='2'><name>a</name><name/></item></items>")
            #expect(try await fixture.sync(mapping).first?.note == nil)
            fixture.server.document(
                "/a",
                "<items><item id='1'><name>n</name><name>m</name></item><item id='2'><name>a</name></item></items>")
            let note =
                "request '1': the first value of a record counts for thing_s.name, and some records have several; map "
                + "a table of their own, or set repeat = \"join\", if you need all"
            let service = try fixture.service(mapping, clock: SystemClock())
            let source = try #require(service.configuration[source: "s"])
            let plan = try await service.plan(source, bodies: [:], ignoresValidators: false, onChange: { _ in })
            try service.close()
            #expect(plan.notes == [note])
            // Another declaration.
            let other = mapping.replacing("name = \"name\"", with: "name = { path = \"name\", default = \"-\" }")
            #expect(try await fixture.sync(other).first?.note == note)
            #expect(try fixture.rows("SELECT name FROM thing_s WHERE id = '1'") == ["n"])
        }
    }

    @Test func aColumnThatIsOftenEmptyIsToldOnce() {
        let all: Set<String> = ["t.a", "t.b"]
        var shape = RequestShape(first: document(["/r"], filled: all, empty: []))
        let without = document(["/r"], filled: ["t.a"], empty: ["t.b"])
        let with = document(["/r"], filled: all, empty: [])
        #expect(shape.take(without, of: "1")?.empty == ["t.b"])
        for _ in 0..<20 {
            #expect(shape.take(with, of: "1") == nil)
            #expect(shape.take(without, of: "1") == nil)
        }
        // Ten documents in a row had it.
        for _ in 0..<10 { #expect(shape.take(with, of: "1") == nil) }
        #expect(shape.take(without, of: "1")?.empty == ["t.b"])
    }

    @Test func whatIsRememberedHasALimit() throws {
        var shape = RequestShape(first: document(["/r"], filled: [], empty: []))
        let long = "/r/" + String(repeating: "x", count: RequestShape.longestPath)
        #expect(shape.take(document(["/r"], [long], filled: [], empty: []), of: "1") == nil)
        let many = Set((0..<1_000).map { "/r/e\($0)" })
        let drift = shape.take(document(["/r"], many, filled: [], empty: []), of: "1")
        #expect(drift?.unmapped.count == 20 && drift?.omitted == 980)
        #expect(drift?.text.hasSuffix("; and 980 more") == true)
        #expect(shape.take(document(["/r"], ["/r/other"], filled: [], empty: []), of: "1") == nil)
        #expect(try shape.text.utf8.count < 4_000)
        #expect(try RequestShape(text: shape.text) == shape)
        #expect(RequestShape(text: "{}") == nil)
    }
}
