import Foundation
import TestStores
import TestSupport
import Testing

/// The list's runs, a source's declaration, a run's neighbours, and the page of hooks and hosts, over the running daemon.
@Suite(.serialized) struct DaemonPageTests {
    @Test(.onEachStore) func theListShowsRunsAndRowsAndASourceItsDeclaration() async throws {
        try await PageFixture.with { (fixture) async throws in
            for number in 2...5 {
                if number == 2 { fixture.feeds.set("news", PageFixture.items(1...3, title: "new")) }
                _ = try await fixture.page.post("/sources/news/refresh")
                try await fixture.wait("run \(number)") {
                    let runs = "SELECT sum(polls) FROM tributary_run WHERE source = 'news'"
                    return try fixture.store.rows(runs) == ["\(number)"]
                }
            }
            var list = ""
            try await fixture.wait("the list is as it is now") {
                list = try await fixture.page.get("/?q=news").body
                return list.contains("Last 5 runs: 3 unchanged, 2 committed")
                    && list.contains("data-label=\"Rows\">3</span>")
            }
            #expect(
                list.contains("data-label=\"Rows\">3</span>")
                    && list.contains("data-label=\"Changed in 24 h\">8</span>"))
            #expect(list.contains("<title>Sources · Tributary</title>"))
            let source = try await fixture.page.get("/sources/news").body
            for text in [
                "unchanged, 3 times", "<b>3 rows</b>", "href=\"/tables/news\"", "Last changes", "title <del>t</del>",
                "<dt><code>keep_history</code></dt><dd>true</dd>", "data-label=\"Sync\">mirror<",
            ] { #expect(source.contains(text), "\(text): \(source)") }

            let runs = try fixture.store.rows("SELECT id FROM tributary_run WHERE source = 'news' ORDER BY id")
            let run = try await fixture.page.get("/sources/news/runs/\(runs[1])").body
            #expect(run.contains("rel=\"prev\" href=\"/sources/news/runs/\(runs[0])\""))
            #expect(run.contains("rel=\"next\" href=\"/sources/news/runs/\(runs[2])\""))
            #expect(run.contains(">update 3</a>") && run.contains(">delete 1</a>") && run.contains("1 to 4"))
            let updates = try await fixture.page.get("/sources/news/runs/\(runs[1])?operation=update").body
            #expect(updates.contains("1 to 3") && !updates.contains("badge delete"))
        }
    }

    @Test func anEventIsSentAgain() async throws {
        try await withStubServer { (receiver) async throws in
            receiver.route("/hook") { _ in StubServer.response(500, "") }
            let hook =
                "[hooks.\"<b>\"]\npost = \"\(receiver.url)/hook\"\non = [\"changed\"]\n[hosts.\"127.0.0.1\"]\npace = \"1s\"\n"
            try await PageFixture.with(more: hook) { (fixture) async throws in
                fixture.feeds.set("news", PageFixture.items(1...3))
                _ = try await fixture.page.post("/sources/news/refresh")
                var page = ""
                try await fixture.wait("it has failed") {
                    page = try await fixture.page.get("/daemon").body
                    return page.contains("Send again")
                }
                #expect(
                    page.contains("retrying") && page.contains("<title>(1) Daemon · Tributary</title>")
                        && !page.contains("<b>"))
                #expect(page.contains("one in ") && page.contains("127.0.0.1"), "\(page)")
                #expect(page.contains("<h2 id=\"figures-title\">The last four hours</h2>"), "\(page)")
                receiver.route("/hook") { _ in StubServer.response(204, "") }
                let sent = receiver.requests("/hook").count
                let path = "/hooks/%3Cb%3E/retry"
                #expect(try await fixture.page.post(path, origin: "http://evil.example").status == 403)
                #expect(try await fixture.page.post(path).headers["location"] == "/daemon?done=retry")
                try await fixture.wait("it is delivered") {
                    page = try await fixture.page.get("/daemon").body
                    return receiver.requests("/hook").count > sent && !page.contains("Send again")
                }
                #expect(try await fixture.page.post(path).headers["location"] == "/daemon?done=not-failed")
                #expect(try await fixture.page.post("/hooks/nosuch/retry").status == 404)
            }
        }
    }
}
