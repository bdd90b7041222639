import FeedModel
import Foundation
import TestSupport
package import Testing

/// Mappings with expressions, and documents for them.
package enum DerivedFixture {
    /// - Parameter columns: lines such as `price = { path = "@price", type = "decimal" }`.
    package static func mapping(
        _ columns: String, element: String = "item", table: String = "thing", options: String = "",
        request: String = "sync = \"mirror\""
    ) -> String {
        """
        [[sources.s.requests]]
        url = "URL/a"
        \(request)
        [[sources.s.requests.tables]]
        table = "\(table)"
        element = "\(element)"
        key = ["id"]
        \(options)
        [sources.s.requests.tables.columns]
        \(columns)

        """
    }

    package static func items(_ items: String...) -> String { document(items) }

    /// One `<item>` a line, with these attributes each.
    package static func document(_ items: [String]) -> String {
        "<items>" + items.map { "<item \($0)/>" }.joined(separator: "\n") + "</items>"
    }

    /// Syncs a document into an empty store, and expects these rows of a query.
    package static func expect(
        _ mapping: String, _ document: String, _ query: String, _ rows: [String], skipped: Int = 0,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", document)
            let report = try #require(try await fixture.sync(mapping).first)
            #expect(report.error == nil, sourceLocation: sourceLocation)
            #expect(report.skipped == skipped, sourceLocation: sourceLocation)
            let found = try fixture.rows(query)
            #expect(found == rows, sourceLocation: sourceLocation)
        }
    }

    /// Syncs a document into an empty store, and expects that the run is discarded with this in its error.
    package static func expectError(
        _ mapping: String, _ document: String, _ expected: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", document)
            let report = try #require(try await fixture.sync(mapping).first)
            #expect(report.outcome == .discarded, sourceLocation: sourceLocation)
            let error = report.error ?? ""
            #expect(error.contains(expected), "\(error)", sourceLocation: sourceLocation)
        }
    }
}
