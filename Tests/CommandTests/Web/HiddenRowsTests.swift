import Foundation
import TestStores
import TestSupport
import Testing

/// With `rows = false`, no page and no answer has rows of the store, or changes of them.
@Suite(.serialized) struct HiddenRowsTests {
    @Test func neitherPagesNorProgramsSeeRowsOrTheirChanges() async throws {
        try await PageFixture.with(daemon: "rows = false", defaults: "keep_bodies = 1") { (fixture) async throws in
            func commit(_ title: String) async throws {
                fixture.feeds.set("news", PageFixture.items(70_001...70_004, title: title))
                _ = try await fixture.page.post("/sources/news/refresh")
                try await fixture.wait("it is committed") {
                    try fixture.store.rows("SELECT DISTINCT title FROM news") == [title]
                }
            }
            // The first documents are blocked, as all their rows are other ones.
            fixture.feeds.set("news", PageFixture.items(70_001...70_004, title: "hidden-first"))
            _ = try await fixture.page.post("/sources/news/refresh")
            try await fixture.wait("it is blocked") {
                try await fixture.page.get("/sources/news").body.contains("id=\"review-run\"")
            }
            let blocked = try fixture.store.rows("SELECT max(id) FROM tributary_run WHERE source = 'news'")[0]
            var seen: [String: String] = [:]
            func see(_ path: String, _ status: Int = 200) async throws {
                let answer = try await fixture.page.get(path)
                #expect(answer.status == status, "\(path): \(answer.status) \(answer.body)")
                seen[path] = answer.body
            }
            try await see("/sources/news/runs/\(blocked)")
            #expect(
                seen["/sources/news/runs/\(blocked)"]?.contains("id=\"accept\">Delete 4 rows and insert 4<") == true)
            try await see("/sources/news/runs/\(blocked).csv", 404)
            try await see("/sources/news/runs/\(blocked).json", 404)
            try await see("/api/review?run=\(blocked)")
            _ = try await fixture.page.post("/sources/news/accept?run=\(blocked)")
            try await fixture.wait("it is accepted") {
                try fixture.store.rows("SELECT DISTINCT title FROM news") == ["hidden-first"]
            }
            try await commit("hidden-second")
            let run = try fixture.store.rows("SELECT max(id) FROM tributary_run WHERE source = 'news'")[0]
            fixture.feeds.set("news", PageFixture.items(70_001...70_004, title: "hidden-third"))
            for path in ["/", "/sources/news", "/sources/news/runs/\(run)", "/sources/news/replay"] {
                try await see(path)
            }
            try await see("/sources/news/undo")
            for path in [
                "/sources/news/runs/\(run).csv", "/sources/news/runs/\(run).ndjson", "/sources/news/undo.csv",
                "/sources/news/undo.json", "/sources/news/undo.ndjson", "/tables",
                "/tables/news", "/tables/news.csv", "/api/changes?source=news", "/api/changes?after=0", "/api/rejected",
                "/api/tables/news/rows", "/api/tables",
            ] { try await see(path, 404) }
            for path in ["/api/plan?source=news", "/api/undo?source=news", "/api/replay?source=news"] {
                let answer = try await fixture.page.post(path)
                #expect(answer.status == 200, "\(path): \(answer.body)")
                seen[path] = answer.body
            }
            for try await part in fixture.page.events("/live?page=%2Fsources%2Fnews") {
                seen["live", default: ""] += part
                if part.contains("\"declaration\"") { break }
            }
            for (path, body) in seen {
                #expect(
                    !body.contains("hidden-") && !body.contains("70001") && !body.contains("70002"), "\(path): \(body)")
            }
            // What is left are counts, and the buttons.
            #expect(seen["/sources/news"]?.contains("4 updated") == true)
            #expect(seen["/sources/news/undo"]?.contains("id=\"accept\">Update 4 rows<") == true)
            #expect(seen["/api/undo?source=news"]?.contains("\"digest\":") == true)
            #expect(seen["/api/plan?source=news"]?.contains("\"updated\":4") == true)
            #expect(seen["/api/changes?source=news"]?.contains("rows = false in [daemon]") == true)
            #expect(seen["/sources/news/runs/\(run)"]?.contains("rows = false in [daemon]") == true)
        }
    }
}
