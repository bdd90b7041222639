import Foundation
import TestStores
import TestSupport
import Testing

/// The page and what programs are told, over the running daemon. One at a time: on a server, all daemons of a database hear
/// whom somebody asks to refresh a source.
@Suite(.serialized) struct PageTests {
    @Test func programsAreToldWhatTheCommandsPrint() async throws {
        try await PageFixture.with { (fixture) async throws in
            for (path, command) in [
                ("/api/status", ["status", "--json"]), ("/api/history?source=news", ["history", "news", "--json"]),
                ("/api/changes?source=news", ["changes", "news", "--json"]),
            ] {
                // A claim is given up a moment after the commit.
                try await fixture.wait("\(path) is what is printed") {
                    let answer = try await fixture.page.get(path)
                    let printed = await (try fixture.program.start(command)).output()
                    return answer.status == 200 && answer.body == printed.standardOutput
                }
            }
            let unknown = try await fixture.page.get("/api/status?source=nosuch")
            #expect(unknown.status == 404 && unknown.body.contains("there is no source 'nosuch'"))
            let wrong = try await fixture.page.get("/api/history?limit=0")
            #expect(wrong.status == 400 && wrong.body.contains("'limit' must be a number from 1 to 10000"))
            // A variable that was not set would else refresh everything.
            let empty = try await fixture.page.post("/api/refresh?source=")
            #expect(empty.status == 400 && empty.body.contains("'source' has no value"))
            let off = """

                [sources.off]
                enabled = false
                [[sources.off.requests]]
                url = "http://127.0.0.1/"
                parser = "SyndicationParser"

                """
            let file = fixture.folder.file("sources.toml")
            try fixture.folder.write(try String(contentsOfFile: file, encoding: .utf8) + off, to: "sources.toml")
            fixture.daemon.signal(SIGHUP)
            try await fixture.wait("the source is known") {
                try await fixture.page.get("/api/status?source=off").status == 200
            }
            for path in [
                "/api/refresh?source=off", "/api/accept?source=off&run=1", "/api/pause?source=off",
                "/api/resume?source=off",
            ] {
                let refused = try await fixture.page.post(path)
                #expect(refused.status == 409 && refused.body.contains("source 'off' is disabled"), "\(path)")
            }
            let program = BuiltProgram("tributary", config: file)
            for command in ["status", "tail"] {
                let shown = try await program.run(command, "off")
                #expect(shown.status == 0, "\(command): \(shown.standardError)")
            }
            #expect(try await program.run("status", "off").standardOutput.contains("  disabled  "))
            #expect(try await program.run("refresh", "off").status == 64)
            let odd = try await fixture.page.get("/api/history?failed=1")
            #expect(odd.status == 400 && odd.body.contains("'failed' must be true or false"))
            for since in ["2026-11-17", "2026-11-17T14:30Z"] {
                #expect(try await fixture.page.get("/api/changes?since=\(since)").status == 200)
            }
            for path in ["/api/accept", "/api/nosuch", "/api/tables/news", "/api/tables/nosuch/rows"] {
                let nothing = try await fixture.page.get(path)
                #expect(nothing.status == 404 && nothing.body.contains("\"error\":"), "\(path): \(nothing.body)")
                #expect(nothing.headers["content-type"] == "application/problem+json", "\(path)")
            }
        }
    }

    /// Changes of large rows come in pieces, of which each is read anew.
    @Test(.onEachStore) func manyChangesComeInPieces() async throws {
        try await PageFixture.with { (fixture) async throws in
            let title = String(repeating: "long ", count: 20_000)
            fixture.feeds.set("news", PageFixture.items(1...23, title: title))
            _ = try await fixture.page.post("/sources/news/refresh")
            try await fixture.wait("the second run") {
                try fixture.store.rows("SELECT count(*) FROM tributary_run WHERE source = 'news'") == ["2"]
            }
            for (limit, count) in [("", 23), ("&limit=7", 7)] {
                let lines = try await fixture.page.get("/api/changes?source=news\(limit)").body.split(separator: "\n")
                #expect(lines.count == count && Set(lines).count == count)
            }
            let run = try fixture.store.rows("SELECT max(id) FROM tributary_run WHERE source = 'news'")[0]
            let page = try await fixture.page.get("/sources/news/runs/\(run)?from=20")
            #expect(page.body.contains("21 to 23"))
        }
    }

    @Test(.onEachStore) func aStoreThatCannotBeReadIsAnAnswer() async throws {
        try await PageFixture.with { (fixture) async throws in
            try fixture.store.execute("ALTER TABLE tributary_source RENAME TO elsewhere")
            // The list is a second old at most.
            try await fixture.wait("the list is read again") { try await fixture.page.get("/").status == 503 }
            for (path, text) in [
                ("/api/status", "\"error\":\""), ("/", "<h1>The store cannot be used</h1>"),
                ("/live?page=%2F", "tributary_source"),
            ] {
                let answer = try await fixture.page.get(path)
                #expect(answer.status == 503 && answer.body.contains(text), "\(path): \(answer.status) \(answer.body)")
                #expect(answer.headers["content-security-policy"] != nil)
            }
            try fixture.store.execute("ALTER TABLE elsewhere RENAME TO tributary_source")
            #expect(try await fixture.page.get("/api/status").status == 200)
        }
    }

    @Test(.onEachStore) func aSourceShowsItsRunsAndARunItsRows() async throws {
        try await PageFixture.with { (fixture) async throws in
            let list = try await fixture.page.get("/?q=NEW")
            #expect(list.status == 200 && list.body.contains("href=\"/sources/news\""))
            #expect(list.body.contains("1 to 1 of 1") && !list.body.contains("href=\"/sources/rates\""))
            fixture.feeds.set("news", PageFixture.items(1...3, title: "new"))
            let answer = try await fixture.page.post("/sources/news/refresh")
            #expect(answer.status == 303 && answer.headers["location"] == "/sources/news?done=refresh")
            try await fixture.wait("the second run") {
                try fixture.store.rows("SELECT count(*) FROM tributary_run WHERE source = 'news'") == ["2"]
            }
            let run = try fixture.store.rows("SELECT max(id) FROM tributary_run WHERE source = 'news'")[0]
            let source = try await fixture.page.get("/sources/news")
            for text in [
                "href=\"/sources/news/runs/\(run)\"", "Last-Modified Sat, 21 Nov 2026",
                "GET \(fixture.server.url)/news",
                "<title id=\"rows-title\">Rows changed: inserted 4 at most", "Refresh now", "<dd>every 24 h</dd>",
            ] { #expect(source.body.contains(text), "\(text)") }
            #expect(!source.body.contains("id=\"accept\"") && !source.body.contains("id=\"resume\""))
            let changes = try await fixture.page.get("/sources/news/runs/\(run)")
            #expect(changes.body.contains("<del>t</del>") && changes.body.contains("<ins>new</ins>"))
            #expect(changes.body.contains("news: id = 4") && changes.body.contains("1 to 4"))
            // A run of another source is none of its runs.
            #expect(try await fixture.page.get("/sources/rates/runs/\(run)").status == 404)
            #expect(try await fixture.page.get("/sources/nosuch").status == 404)
            #expect(try await fixture.page.get("/nosuch").status == 404)
            // A mistake in a query leads back to the page.
            let odd = try await fixture.page.get("/sources/news?period=nosuch")
            #expect(odd.status == 400 && odd.body.contains("<a href=\"/sources/news\">news</a>"), "\(odd.body)")
        }
    }

    @Test func whatIsBlockedIsAcceptedAndWhatIsUndoneIsResumed() async throws {
        try await PageFixture.with { (fixture) async throws in
            fixture.feeds.set("rates", PageFixture.items(1...1))
            _ = try await fixture.page.post("/sources/rates/refresh")
            try await fixture.wait("the fuse") {
                try await fixture.page.get("/sources/rates").body.contains("id=\"review-run\"")
            }
            #expect(try await fixture.page.get("/?state=blocked").body.contains("href=\"/sources/rates\""))
            // Nobody accepts what was not shown, or what is not blocked.
            let run = try fixture.store.rows(
                "SELECT max(id) FROM tributary_run WHERE source = 'rates' AND outcome = 'blocked'")[0]
            let source = try await fixture.page.get("/sources/rates").body
            #expect(source.contains("href=\"/sources/rates/runs/\(run)\">Review run \(run): delete 3 rows</a>"))
            // Its figures are those of the changes that it would have made.
            #expect(source.contains("data-label=\"Deleted\">3</span>"), "\(source)")
            let figures = try await fixture.page.get("/sources/rates/runs/\(run)").body
            #expect(figures.contains("<dt>Deleted</dt><dd>3</dd>"), "\(figures)")
            #expect(!source.contains("/accept"), "nothing is accepted where it is not shown")
            #expect(source.contains("would delete 3 of the 4 rows") && !source.contains("tributary accept"))
            for query in ["", "?run=", "?run=x", "?run=0", "?run=\(run)&run=1"] {
                let unnamed = try await fixture.page.post("/sources/rates/accept\(query)")
                #expect(unnamed.status == 400, "\(query): \(unnamed.status)")
            }
            for query in ["", "&run=\(run)&source=news", "&run=\(run)&in_advance=true"] {
                let unnamed = try await fixture.page.post("/api/accept?source=rates\(query)")
                #expect(unnamed.status == 400, "\(query): \(unnamed.body)")
            }
            #expect(try fixture.store.rows("SELECT count(*) FROM rates") == ["4"])
            // What it would change is shown before it is accepted, and the button says it.
            let review = try await fixture.page.get("/sources/rates/runs/\(run)").body
            #expect(review.contains("Planned changes") && review.contains("id=\"accept\">Delete "), "\(review)")
            // The button is the advice.
            #expect(
                review.contains("would delete 3 of the 4 rows") && !review.contains("tributary accept"), "\(review)")
            let rows = try await fixture.page.get("/api/review?run=\(run)")
            #expect(rows.status == 200 && rows.body.contains("\"operation\":\"delete\""), "\(rows)")
            #expect(try await fixture.page.get("/api/review?run=1").status == 404)
            #expect(try await fixture.page.get("/api/review?run=\(run)&limit=1&limit=2").status == 400)
            let other = try await fixture.page.post("/sources/rates/accept?run=1")
            #expect(other.status == 409 && other.body.contains("is not blocked; run \(run) is"))
            #expect(
                other.body.contains("<a href=\"/sources/rates/runs/\(run)\">Review run \(run)</a>"), "\(other.body)")
            #expect(other.body.contains("<h1>Nothing was accepted</h1>") && other.body.contains(">rates</a>"))
            let sound = try await fixture.page.post("/api/accept?source=news&run=\(run)")
            #expect(sound.status == 409 && sound.body.contains("run \(run) of source 'news' is not blocked"))
            let advance = try await fixture.page.post("/api/accept?source=rates&in_advance=true")
            #expect(advance.status == 409 && advance.body.contains("run \(run) of source 'rates' is blocked"))
            // The server has less by now.
            let asked = fixture.server.requests("/rates").count
            fixture.feeds.set("rates", PageFixture.items(9...9))
            let accepted = try await fixture.page.post("/sources/rates/accept?run=\(run)")
            #expect(accepted.headers["location"] == "/sources/rates?done=accept")
            try await fixture.wait("the rows are gone") { try fixture.store.rows("SELECT id FROM rates") == ["1"] }
            #expect(fixture.server.requests("/rates").count == asked)
            try await fixture.wait("nothing is blocked") {
                try await !fixture.page.get("/sources/rates").body.contains("id=\"review-run\"")
            }
            // The number of rows is that of documents, not of an undo.
            try await fixture.wait("the row is counted") {
                try await fixture.page.get("/sources/rates").body.contains("<b>1 row</b>")
            }
            let undo = try await fixture.program.run("undo", "rates", "--yes")
            #expect(undo.status == 0, "\(undo.standardError)")
            try await fixture.wait("resume is offered") {
                try await fixture.page.get("/sources/rates").body.contains("id=\"resume\"")
            }
            #expect(try await fixture.page.get("/sources/rates").body.contains("<b>1 row</b>"))
            let resumed = try await fixture.page.post("/sources/rates/resume")
            #expect(resumed.headers["location"] == "/sources/rates?done=resume")
            let again = try await fixture.page.post("/sources/rates/resume")
            #expect(again.headers["location"] == "/sources/rates?done=not-paused")
        }
    }

    @Test func aSourceIsPausedAndResumedOnItsPage() async throws {
        try await PageFixture.with { (fixture) async throws in
            #expect(try await fixture.page.get("/sources/news").body.contains("id=\"pause\""))
            let paused = try await fixture.page.post("/sources/news/pause")
            #expect(paused.status == 303 && paused.headers["location"] == "/sources/news?done=pause")
            let page = try await fixture.page.get("/sources/news?done=pause").body
            #expect(page.contains("It is paused: nothing is fetched until you resume it."), "\(page)")
            #expect(page.contains("id=\"resume\"") && !page.contains("id=\"pause\""), "\(page)")
            let again = try await fixture.page.post("/sources/news/pause")
            #expect(again.headers["location"] == "/sources/news?done=was-paused")
            #expect(
                try await fixture.page.get("/sources/news?done=was-paused").body.contains("It was already paused."))
            let resumed = try await fixture.page.post("/sources/news/resume")
            #expect(resumed.headers["location"] == "/sources/news?done=resume")
            try await fixture.wait("pause is offered again") {
                let page = try await fixture.page.get("/sources/news").body
                return page.contains("id=\"pause\"") && !page.contains("id=\"resume\"")
            }
        }
    }

    @Test func aPermissionInAdvanceIsWithdrawnOnThePage() async throws {
        try await PageFixture.with { (fixture) async throws in
            #expect(try await !fixture.page.get("/sources/news").body.contains("id=\"withdraw\""))
            // A paused source has no run that could use the permission.
            _ = try await fixture.page.post("/sources/news/pause")
            let accepted = try await fixture.page.post("/api/accept?source=news&in_advance=true")
            #expect(accepted.status == 200, "\(accepted.body)")
            let page = try await fixture.page.get("/sources/news").body
            #expect(page.contains("id=\"withdraw\"") && page.contains("ccepted in advance"), "\(page)")
            let withdrawn = try await fixture.page.post("/sources/news/withdraw")
            #expect(withdrawn.headers["location"] == "/sources/news?done=withdraw")
            let after = try await fixture.page.get("/sources/news?done=withdraw").body
            #expect(after.contains("The permission is withdrawn."), "\(after)")
            #expect(!after.contains("id=\"withdraw\"") && !after.contains("ccepted in advance"), "\(after)")
            let again = try await fixture.page.post("/sources/news/withdraw")
            #expect(again.headers["location"] == "/sources/news?done=not-accepted")
            #expect(try await fixture.page.post("/api/withdraw?source=news").body.contains("\"withdrawn\":[]"))
        }
    }

    @Test func commonErrorsAreToldOnceWithTheirNumber() async throws {
        try await withStubServer { (broken) async throws in
            broken.route("/one") { _ in StubServer.response(500, "", [:]) }
            broken.route("/two") { _ in StubServer.response(500, "", [:]) }
            let more = ["one", "two"].map { PageFixture.declaration($0, url: "\(broken.url)/\($0)") }.joined()
            try await PageFixture.with(more: more) { (fixture) async throws in
                var page = ""
                try await fixture.wait("both have failed") {
                    page = try await fixture.page.get("/").body
                    return page.contains(">2 sources</a>")
                }
                let link = try #require(page.firstMatch(of: /<a href="([^"]+)">2 sources<\/a>/)?.1)
                let list = try await fixture.page.get(String(link).replacing("&amp;", with: "&")).body
                #expect(list.contains("href=\"/sources/one\"") && list.contains("href=\"/sources/two\""))
                #expect(!list.contains("href=\"/sources/news\"") && list.contains("1 to 2 of 2"))
                #expect(try await fixture.page.get("/?cause=nosuch").body.contains("No source matches."))
            }
        }
    }

    @Test func anOpenPageIsKeptUpToDateAndEndsWithTheDaemon() async throws {
        try await PageFixture.with { (fixture) async throws in
            var seen = ""
            let events = fixture.page.events("/live?page=%2Fsources%2Fnews")
            for try await part in events {
                let isFirst = seen.isEmpty
                seen += part
                if isFirst {
                    fixture.feeds.set("news", "<items><item id='1'>")
                    _ = try await fixture.page.post("/sources/news/refresh")
                }
                if seen.contains("badge failing") { break }
            }
            #expect(seen.contains("text/event-stream") && seen.contains("\"id\":\"state\""))
            // One that stays open; the fixture's SIGTERM must end the daemon all the same.
            let open = fixture.page.events("/live?page=%2F")
            for try await part in open where part.contains("data:") { break }
            let last = Task { for try await _ in fixture.page.events("/live?page=%2F") {} }
            fixture.daemon.signal(SIGTERM)
            // The page would be followed for ever.
            #expect(await fixture.daemon.end() == 0)
            _ = await last.result
        }
    }
}
