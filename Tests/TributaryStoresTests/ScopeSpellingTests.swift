import FeedModel
import FeedStores
import TestEngine
import TestStores
import TestSupport
import Testing
import TributaryStores
@testable import TributaryEngine

/// Scopes whose values are the same for the store, and are written in another way.
@Suite(.onEachStore) struct ScopeSpellingTests {
    static let spellings = [
        ("INTEGER", "1", "01", "2"), ("numeric(10,2)", "1", "1.000", "3"), ("boolean", "yes", "true", "no"),
        ("double precision", "0.5", "5e-1", "1.5"),
        ("date", "2026-01-01", "20260101", "2026-01-02"),
        (
            "uuid", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", "a0eebc999c0b4ef8bb6d6bb9bd380a11",
            "b0eebc999c0b4ef8bb6d6bb9bd380a11"
        ),
        ("timestamptz", "2026-01-01T00:00:00Z", "2026-01-01T01:00:00+01:00", "2026-01-01T01:00:00Z"),
        ("inet", "10.0.0.1", "10.0.0.1/32", "10.0.0.2"),
    ]

    private static func sources(_ scopes: [(name: String, sync: String, value: String)]) -> String {
        scopes.map {
            """
            [[sources.\($0.name).requests]]
            url = "URL/\($0.name)"
            sync = "\($0.sync)"
            max_deleted = "100%"
            scope = { s = "\($0.value)" }
            tables = [{ table = "place", element = "p", key = ["s", "id"], columns = { id = "@id" } }]

            """
        }.joined()
    }

    private func withPlaces(_ type: String, _ body: (EngineFixture) async throws -> Void) async throws {
        // SQLite converts numbers only.
        guard StoreKind.current == .postgres || type == "INTEGER" else { return }
        try await EngineFixture.with { (fixture) async throws in
            try fixture.store.execute("CREATE TABLE place (s \(type) NOT NULL, id text NOT NULL, PRIMARY KEY (s, id))")
            fixture.server.document("/a", "<all><p id='1'/><p id='2'/></all>", etag: "\"a\"")
            fixture.server.document("/b", "<all><p id='3'/></all>", etag: "\"b\"")
            fixture.server.document("/c", "<all><p id='4'/></all>", etag: "\"c\"")
            try await body(fixture)
        }
    }

    @Test(arguments: spellings)
    func twoMirrorsOfOneScope(type: String, one: String, other: String, third: String) async throws {
        try await withPlaces(type) { (fixture) async throws in
            let sources = Self.sources([("a", "mirror", one), ("b", "mirror", other), ("c", "mirror", third)])
            for _ in 0..<2 {
                #expect(try await fixture.sync(sources, ["a"]).first?.error == nil)
                let refused = try await fixture.sync(sources, ["b"]).first
                #expect(
                    refused?.error?.contains("each would delete the other's rows; give each its own scope") == true,
                    "\(refused?.error ?? "no error")")
                #expect(try await fixture.sync(sources, ["c"]).first?.error == nil)
                #expect(try fixture.rows("SELECT id FROM place ORDER BY id") == ["1", "2", "4"])
            }
            let store = try #require(try fixture.configuration(sources).openExistingStore())
            defer { try? store.close() }
            let comparison = try store.comparison(
                of: "place", scopes: [["s": one], ["S": other], ["s": third], ["s": "no value"]])
            #expect(comparison.mayShareRows(["s": one], ["S": other]))
            #expect(!comparison.mayShareRows(["s": one], ["s": third]))
            #expect(!comparison.mayShareRows(["s": one], ["s": "no value"]))
        }
    }

    /// The request whose rows another source has deleted is sent without its validators.
    @Test(arguments: spellings)
    func theRowsOfOthersComeBack(type: String, one: String, other: String, third: String) async throws {
        try await withPlaces(type) { (fixture) async throws in
            let sources = Self.sources([("a", "upsert", one), ("b", "mirror", other), ("c", "mirror", third)])
            for name in ["a", "c", "b"] { #expect(try await fixture.sync(sources, [name]).first?.error == nil) }
            #expect(try fixture.rows("SELECT id FROM place ORDER BY id") == ["3", "4"])
            for name in ["a", "c"] { #expect(try await fixture.sync(sources, [name]).first?.error == nil) }
            #expect(try fixture.rows("SELECT id FROM place ORDER BY id") == ["1", "2", "3", "4"])
        }
    }
}
