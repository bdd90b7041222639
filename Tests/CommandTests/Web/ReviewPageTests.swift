import Foundation
import TestStores
import TestSupport
import Testing

/// What an undo, a replay, a purge or a blocked run would do, on the page, before it is done.
@Suite(.serialized, .onEachStore) struct ReviewPageTests {
    private static func button(_ page: String) throws -> (address: String, text: String) {
        let match = try #require(
            page.firstMatch(of: /<form method="post" action="([^"]+)" class="actions"><button id="accept">([^<]*)</))
        return (String(match.1).replacing("&amp;", with: "&"), String(match.2))
    }

    @Test func anUndoIsShownAndThenDone() async throws {
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

    @Test func aPurgeIsShownAndThenDone() async throws {
        try await PageFixture.with { (fixture) async throws in
            let page = try await fixture.page.get("/sources/rates/purge")
            let (address, text) = try Self.button(page.body)
            #expect(text == "Delete 4 rows and forget rates" && page.body.contains("It is still declared"))
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

    @Test func aBlockedRunIsFilteredByTableAndDownloaded() async throws {
        try await PageFixture.with { (fixture) async throws in
            fixture.feeds.set("rates", PageFixture.items(1...1))
            _ = try await fixture.page.post("/sources/rates/refresh")
            try await fixture.wait("it is blocked") {
                try await fixture.page.get("/sources/rates").body.contains("id=\"accept\"")
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
