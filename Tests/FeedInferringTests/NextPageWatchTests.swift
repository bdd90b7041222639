import FeedInferring
import Testing
import XMLStream

/// The places of documents that name a further page.
@Suite struct NextPageWatchTests {
    private func hint(_ document: String) throws -> NextPageWatch.Hint? {
        let watch = NextPageWatch()
        let parser = XMLStreamParser(handler: watch)
        try Array(document.utf8).withUnsafeBytes { try parser.parse($0) }
        try parser.finish()
        return watch.hint
    }

    @Test(arguments: [
        (
            "<r><i/><resumptionToken>x</resumptionToken></r>",
            "page = { token = \"/r/resumptionToken\", parameter = \"…\" }"
        ),
        (
            "<json><meta><next_cursor>c</next_cursor></meta></json>",
            "page = { token = \"/json/meta/next_cursor\", parameter = \"…\" }"
        ),
        ("<json><links><next>/p?2</next></links></json>", "page = { next = \"/json/links/next\" }"),
        // What may be a token.
        ("<r><next>t100</next><i/><i/></r>", "page = { token = \"/r/next\", parameter = \"…\" }"),
        ("<json><paging><next>2</next></paging></json>", "page = { token = \"/json/paging/next\", parameter = \"…\" }"),
        ("<json><cursor>abc</cursor><item/></json>", "page = { token = \"/json/cursor\", parameter = \"…\" }"),
        (
            "<json><cursor>now</cursor><next_cursor>c</next_cursor></json>",
            "page = { token = \"/json/next_cursor\", parameter = \"…\" }"
        ),
        (
            "<json><_links><next><href>/p?2</href></next></_links></json>",
            "page = { next = \"/json/_links/next/href\" }"
        ),
        (
            "<feed><link rel='self' href='a'/><link rel='next' href='b'/></feed>",
            "page = { next = \"/feed/link[@rel='next']/@href\" }"
        ),
        // A flag in words, and one of something else.
        (
            "<json><meta><nextCursor>c</nextCursor><has_more>True</has_more></meta></json>",
            "page = { token = \"/json/meta/nextCursor\", parameter = \"…\" }"
        ),
        (
            "<json><facets><hasMore>false</hasMore></facets><meta><nextCursor>c</nextCursor></meta></json>",
            "page = { token = \"/json/meta/nextCursor\", parameter = \"…\" }"
        ),
        (
            "<json><data><pageInfo><hasNextPage>true</hasNextPage><endCursor>c</endCursor></pageInfo></data></json>",
            "page = { token = \"/json/data/pageInfo/endCursor\", parameter = \"…\" }"
        ),
    ])
    func aFurtherPageIsFound(document: String, key: String) throws {
        #expect(try hint(document)?.key == key)
    }

    @Test func aMarkAloneShowsNoWay() throws {
        let found = try #require(try hint("<json><has_more>true</has_more></json>"))
        #expect(found.path == "/json/has_more" && found.key == nil)
    }

    @Test(arguments: [
        "<r><resumptionToken/></r>", "<json><next_cursor></next_cursor></json>",
        "<json><navigation><next>Chapter 3</next></navigation></json>",
        "<json><schedule><next>2026-12-01</next></schedule></json>",
        "<json><has_more>false</has_more></json>",
        // The last page of GraphQL.
        "<json><data><pageInfo><hasNextPage>false</hasNextPage><endCursor>c</endCursor></pageInfo></data></json>",
        // Data of this name.
        "<l><i><next>b</next></i><i><next>c</next></i></l>",
    ])
    func noneIsFound(document: String) throws {
        #expect(try hint(document) == nil)
    }
}
