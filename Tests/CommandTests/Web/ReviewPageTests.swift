import Foundation
import TestStores
import TestSupport
import Testing

/// What an undo, a replay, a purge or a blocked run would do, on the page, before it is done.
@Suite(.serialized) struct ReviewPageTests {
    private static func button(_ page: String) throws -> (address: String, text: String) {
        let match = try #require(
            page.firstMatch(of: /<form method="post" action="([^"]+)" class="actions"><button id="accept">([^<]*)</))
        return (String(match.1).replacing("&amp;", with: "&"), String(match.2))
    }

    @Test(.onEachStore) func anUndoIsShownAndThenDone() async throws {
        try await PageFixture.with { (fixture) async throws in
            fixture.feeds.set("news", PageFixture.items(1...3, title: "&lt;b&gt;new&lt;/b&gt;"))
            _ = try await fixture.page.post("/sources/news/refresh")
            let titles = "SELECT DISTINCT title FROM news"
            try await fixture.wait("it is committed") { try fixture.store.rows(titles) == ["<b>new</b>"] }
            #expect(try await fixture.page.get("/sources/news").body.contains("href=\"/sources/news/undo\""))
            let first = try fixture.store.rows("SELECT min(id) FROM tributary_run WHERE source = 'news'")[0]
            #expect(
                try await fixture.page.get("/sources/news/runs/\(first)").body.contains(
                    "/sources/news/undo?to=\(first)"))
            let page = try await fixture.page.get("/sources/news/undo?to=\(first)")
            let (address, text) = try Self.button(page.body)
            #expect(text == "Update 3 rows and insert 1" && !page.body.contains("<b>new"), "\(page.body)")
            #expect(page.body.contains("&lt;b&gt;new&lt;/b&gt;") && page.body.contains("CSV"))
            let csv = try await fixture.page.get("/sources/news/undo.csv?to=\(first)")
            #expect(csv.headers["content-type"]?.hasPrefix("text/csv") == true)
            #expect(csv.body.hasPrefix("table,operation,key,column,before,after\r\n"))
            #expect(csv.body.contains("news,update,\"{\"\"id\"\":\"\"1\"\"}\",title,<b>new</b>,t\r\n"), "\(csv.body)")
            #expect(
                try await fixture.page.get("/sources/news/undo.csv?table=other").body.split(separator: "\r\n").count
                    == 1)
            let lines = try await fixture.page.get("/sources/news/undo.ndjson?to=\(first)")
            #expect(lines.headers["content-type"] == "application/jsonl")
            #expect(page.body.contains("/sources/news/undo.ndjson?to=\(first)"), "\(page.body)")
            #expect(lines.body.split(separator: "\n").count == 4, "\(lines.body)")
            // The store changes: nothing happens.
            fixture.feeds.set("news", PageFixture.items(1...4, title: "newer"))
            _ = try await fixture.page.post("/sources/news/refresh")
            try await fixture.wait("it is committed") { try fixture.store.rows(titles) == ["newer"] }
            let late = try await fixture.page.post(address)
            #expect(late.status == 409 && late.body.contains("since the changes were shown"), "\(late.body)")
            #expect(try fixture.store.rows(titles) == ["newer"])
            let again = try Self.button(try await fixture.page.get("/sources/news/undo?to=\(first)").body)
            #expect(again.text == "Update 4 rows")
            let done = try await fixture.page.post(again.address)
            #expect(done.status == 303 && done.headers["location"] == "/sources/news?done=undo", "\(done.body)")
            #expect(try fixture.store.rows(titles) == ["t"])
        }
    }

    @Test(.onEachStore) func aPurgeIsShownAndThenDone() async throws {
        try await PageFixture.with { (fixture) async throws in
            let page = try await fixture.page.get("/sources/rates/purge")
            let (address, text) = try Self.button(page.body)
            #expect(text == "Delete 4 rows and the state of rates" && page.body.contains("still declared"))
            #expect(try fixture.store.rows("SELECT count(*) FROM rates") == ["4"])
            fixture.feeds.set("rates", PageFixture.items(1...3))
            _ = try await fixture.page.post("/sources/rates/refresh")
            try await fixture.wait("it is committed") { try fixture.store.rows("SELECT count(*) FROM rates") == ["3"] }
            let late = try await fixture.page.post(address)
            #expect(late.status == 409 && late.body.contains("nothing is deleted"), "\(late.body)")
            let again = try Self.button(try await fixture.page.get("/sources/rates/purge").body)
            fixture.feeds.set("rates", "", status: 500)
            let done = try await fixture.page.post(again.address)
            #expect(done.status == 303 && done.headers["location"] == "/sources/rates?done=purge", "\(done.body)")
            #expect(try fixture.store.rows("SELECT count(*) FROM rates") == ["0"])
            #expect(try fixture.store.rows("SELECT kind FROM tributary_run WHERE kind IS NOT NULL") == ["purge"])
        }
    }

    @Test func aReplayWithoutADifferenceHasNoButton() async throws {
        try await PageFixture.with(defaults: "keep_bodies = 1") { (fixture) async throws in
            let same = try await fixture.page.get("/sources/news/replay").body
            #expect(same.contains("No row would change.") && !same.contains("id=\"accept\""))
            try fixture.store.execute("UPDATE news SET title = 'x'")
            let page = try await fixture.page.get("/sources/news/replay").body
            let (address, text) = try Self.button(page)
            #expect(text == "Update 4 rows")
            #expect(try await fixture.page.post(address).headers["location"] == "/sources/news?done=replay")
            #expect(try fixture.store.rows("SELECT DISTINCT title FROM news") == ["t"])
        }
    }

    @Test(.onEachStore) func aBlockedRunIsFilteredByTableAndDownloaded() async throws {
        try await PageFixture.with { (fixture) async throws in
            fixture.feeds.set("rates", PageFixture.items(1...1))
            _ = try await fixture.page.post("/sources/rates/refresh")
            try await fixture.wait("it is blocked") {
                try await fixture.page.get("/sources/rates").body.contains("id=\"review-run\"")
            }
            let run = try fixture.store.rows("SELECT max(id) FROM tributary_run WHERE source = 'rates'")[0]
            let path = "/sources/rates/runs/\(run)"
            let page = try await fixture.page.get(path).body
            #expect(page.contains("href=\"\(path)?table=rates\"") && page.contains("href=\"\(path).csv\""), "\(page)")
            #expect(try await fixture.page.get("\(path)?table=rates").body.contains("1 to 3"))
            let none = try await fixture.page.get("\(path)?table=%3Cb%3E").body
            #expect(none.contains("0 to 0") && none.contains(">Delete 3 rows</button>") && !none.contains("<b>"))
            let csv = try await fixture.page.get("\(path).csv").body.split(separator: "\r\n")
            #expect(csv.count == 7 && csv.contains("rates,delete,\"{\"\"id\"\":\"\"2\"\"}\",id,2,"), "\(csv)")
            #expect(try await fixture.page.get("/sources/news/runs/\(run).csv").status == 404)
            #expect(page.contains("To reject these changes, do nothing") && page.contains(">delete 3</a>"))
            #expect(try await fixture.page.get("\(path)?operation=delete").body.contains("1 to 3"))
            #expect(try await fixture.page.get("\(path)?operation=insert").body.contains("0 to 0"))
            #expect(try await fixture.page.get("\(path)?operation=x").status == 400)
            #expect(try await fixture.page.get("\(path).csv?operation=insert").body.split(separator: "\r\n").count == 1)
            struct Row: Decodable {
                var table: String
                var operation: String
            }
            let json = try await fixture.page.get("\(path).json")
            let rows = try JSONDecoder().decode([Row].self, from: Data(json.body.utf8))
            #expect(rows.map(\.operation) == ["delete", "delete", "delete"] && rows[0].table == "rates")
            #expect(json.headers["content-type"] == "application/json")
        }
    }

    @Test func aRunIsDownloaded() async throws {
        try await PageFixture.with { (fixture) async throws in
            fixture.feeds.set("news", PageFixture.items(1...3, title: "new"))
            _ = try await fixture.page.post("/sources/news/refresh")
            try await fixture.wait("it is committed") { try fixture.store.rows("SELECT count(*) FROM news") == ["3"] }
            let runs = try fixture.store.rows("SELECT id FROM tributary_run WHERE source = 'news' ORDER BY id")
            let path = "/sources/news/runs/\(runs[1])"
            let page = try await fixture.page.get(path).body
            #expect(page.contains("href=\"\(path).csv\"") && page.contains("href=\"\(path).json\""), "\(page)")
            let csv = try await fixture.page.get("\(path).csv?operation=update")
            #expect(
                Set(csv.body.split(separator: "\r\n"))
                    == Set(
                        ["table,operation,key,column,before,after"]
                            + (1...3).map { "news,update,\"{\"\"id\"\":\"\"\($0)\"\"}\",title,t,new" }), "\(csv.body)")
            struct Change: Decodable {
                var run: Int
                var operation: String
            }
            let json = try await fixture.page.get("\(path).json").body
            let changes = try JSONDecoder().decode([Change].self, from: Data(json.utf8))
            #expect(changes.map(\.operation).sorted() == ["delete", "update", "update", "update"], "\(json)")
            #expect(changes.allSatisfy { "\($0.run)" == runs[1] })
            #expect(try await fixture.page.get("\(path).json?table=x").body == "[\n]\n")
            // The newest run is undone, and an older one brought back.
            #expect(page.contains("href=\"/sources/news/undo?to=\(runs[0])\">Undo this run …"), "\(page)")
            let first = try await fixture.page.get("/sources/news/runs/\(runs[0])").body
            #expect(first.contains("href=\"/sources/news/undo?to=\(runs[0])\">Restore the rows to this run …"))
        }
    }

    /// A review holds for the documents that it shows, whichever run fetched them last, and for no others.
    @Test func aReviewHoldsUntilOtherDocumentsAreBlocked() async throws {
        try await PageFixture.with { (fixture) async throws in
            func blocked(_ ids: ClosedRange<Int>, _ count: Int) async throws -> String {
                fixture.feeds.set("rates", PageFixture.items(ids))
                let query =
                    "SELECT id FROM tributary_run WHERE source = 'rates' AND outcome = 'blocked' ORDER BY id DESC"
                _ = try await fixture.page.post("/sources/rates/refresh")
                try await fixture.wait("run \(count) is blocked") { try fixture.store.rows(query).count == count }
                return try fixture.store.rows(query)[0]
            }
            let first = try await blocked(1...1, 1)
            let second = try await blocked(1...1, 2)
            let old = try await fixture.page.get("/sources/rates/runs/\(first)").body
            #expect(old.contains("Run \(second) had the same documents") && old.contains("/accept?run=\(second)"))
            #expect(try await fixture.page.get("/api/review?run=\(first)").status == 200)

            let third = try await blocked(2...2, 3)
            let replaced = try await fixture.page.get("/sources/rates/runs/\(first)").body
            #expect(replaced.contains("Run \(third) replaces this one."), "\(replaced)")
            #expect(replaced.contains("href=\"/sources/rates/runs/\(third)\">Review run \(third)</a>"))
            #expect(!replaced.contains("id=\"accept\"") && !replaced.contains("This run changed no rows"))
            let late = try await fixture.page.post("/sources/rates/accept?run=\(second)")
            #expect(late.status == 409 && late.body.contains(">Review run \(third)</a>"), "\(late.body)")

            // A page that was opened before the same documents came again.
            let fourth = try await blocked(2...2, 4)
            let done = try await fixture.page.post("/sources/rates/accept?run=\(third)")
            #expect(done.status == 303, "\(done.body)")
            try await fixture.wait("it is committed") { try fixture.store.rows("SELECT id FROM rates") == ["2"] }
            let commit = try fixture.store.rows("SELECT max(id) FROM tributary_run WHERE source = 'rates'")[0]
            for run in [third, fourth] {
                let settled = try await fixture.page.get("/sources/rates/runs/\(run)").body
                #expect(settled.contains("Its documents were accepted."), "\(settled)")
                #expect(settled.contains("href=\"/sources/rates/runs/\(commit)\">"), "\(settled)")
            }
        }
    }

    @Test func aBlockedRunThatWasOvertakenSaysSo() async throws {
        try await PageFixture.with { (fixture) async throws in
            fixture.feeds.set("rates", PageFixture.items(1...1))
            _ = try await fixture.page.post("/sources/rates/refresh")
            let outcomes = "SELECT outcome FROM tributary_run WHERE source = 'rates' ORDER BY id DESC"
            try await fixture.wait("it is blocked") { try fixture.store.rows(outcomes).first == "blocked" }
            let run = try fixture.store.rows("SELECT max(id) FROM tributary_run WHERE source = 'rates'")[0]
            fixture.feeds.set("rates", PageFixture.items(1...5))
            _ = try await fixture.page.post("/sources/rates/refresh")
            try await fixture.wait("it is committed") { try fixture.store.rows(outcomes).first == "committed" }
            let page = try await fixture.page.get("/sources/rates/runs/\(run)").body
            #expect(page.contains("It was not accepted. A later feed was within the limits."), "\(page)")
        }
    }

    @Test func aRefusalLeadsBack() async throws {
        try await PageFixture.with { (fixture) async throws in
            let first = try fixture.store.rows("SELECT max(id) FROM tributary_run WHERE source = 'news'")[0]
            let refused = try await fixture.page.get("/sources/news/undo?to=\(first)")
            #expect(refused.status == 409 && refused.body.contains("not possible</h1>"), "\(refused.body)")
            #expect(refused.body.contains("<a href=\"/sources/news\">news</a>"), "\(refused.body)")
            let run = try await fixture.page.get("/sources/news/runs/\(first)").body
            #expect(run.contains(">Undo this run …") && !run.contains("Restore the rows"), "\(run)")
            let missing = try await fixture.page.get("/sources/news/runs/99999")
            #expect(missing.status == 404 && missing.body.contains("<a href=\"/sources/news\">news</a>"))
            for path in [
                "/?state=held", "/?sort=size", "/?page=x", "/?page=0", "/sources/news?period=year",
                "/sources/news?runs=7", "/sources/news/runs/\(first)?operation=x", "/tables?page=x",
                "/live?page=%2F%3Fpage%3Dx",
            ] {
                let answer = try await fixture.page.get(path)
                #expect(answer.status == 400 && answer.body.contains("must be"), "\(path): \(answer.status)")
            }
        }
    }

    @Test func nobodyElseMakesPlans() async throws {
        try await PageFixture.with { (fixture) async throws in
            for kind in ["undo", "replay", "purge"] {
                let path = "/sources/news/\(kind)"
                #expect(try await fixture.page.get(path, ["Sec-Fetch-Site": "cross-site"]).status == 403, "\(kind)")
                #expect(try await fixture.page.post(path, origin: "http://evil.example").status == 403, "\(kind)")
                #expect(try await fixture.page.get("/sources/nosuch/\(kind)").status == 404, "\(kind)")
                // Nothing was shown.
                #expect(try await fixture.page.post(path).status == 400, "\(kind)")
                #expect(try await fixture.page.post(path + "?apply=1-2-3").status == 409, "\(kind)")
            }
            #expect(try await fixture.page.get("/sources/news/undo?to=%3Cscript%3E").status == 400)
            #expect(try fixture.store.rows("SELECT count(*) FROM news") == ["4"])
        }
    }
}
