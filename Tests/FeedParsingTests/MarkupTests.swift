import FeedModel
import FeedStaging
import FeedStores
import SQLiteStore
import TestEngine
import TestSupport
import Testing
@testable import FeedParsing
@testable import TributaryEngine

/// Elements that a parser class takes as markup.
@Suite struct MarkupTests {
    final class MarkupParser: FeedParser {
        private var item = Item()

        override func didStartElement() throws {
            if element == "item" { item = Item(id: attributes["id"]) }
            guard element == "name" else { return }
            var rules = MarkupRules()
            rules.limit = 1_000
            collectMarkup(rules)
        }

        override func didEndElement() throws {
            if element == "name" { item.name = markup ?? text }
            if element == "item" { try context.insert(item) }
        }
    }

    @Test(arguments: [(200, true), (300, false)])
    func markupStaysWithinItsLimit(elements: Int, isTaken: Bool) async throws {
        try await EngineFixture.with(parsers: [.class(MarkupParser.self)]) { (fixture) async throws in
            let markup = String(repeating: "<b/>", count: elements)
            fixture.server.document("/a", "<items><item id='1'><name>\(markup)</name></item></items>")
            let source = "[[sources.s.requests]]\nurl = \"URL/a\"\nparser = \"MarkupParser\"\n"
            let report = try await fixture.sync(source).first
            #expect((report?.error == nil) == isTaken, "\(String(describing: report?.error))")
            #expect(report?.error?.contains("the element's markup is longer than") ?? isTaken)
            if isTaken { #expect(try fixture.rows("SELECT length(name) >= 4 * \(elements) FROM item") == ["1"]) }
        }
    }
}
