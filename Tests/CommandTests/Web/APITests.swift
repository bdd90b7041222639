import Foundation
import Synchronization
import TestStores
import TestSupport
import Testing

/// What `/api` says of itself, compared with what it answers.
@Suite(.serialized) struct APITests {
    private struct OpenAPI: Decodable {
        struct Operation: Decodable {
            struct Parameter: Decodable {
                var name: String
                var `in`: String
                var required: Bool
            }

            struct Answer: Decodable {
                struct Media: Decodable {}
                var content: [String: Media]
            }

            var operationId: String
            var summary: String
            var parameters: [Parameter]
            var responses: [String: Answer]
        }

        var openapi: String
        var paths: [String: [String: Operation]]
    }

    private struct Index: Decodable {
        struct Operation: Decodable {
            var method: String
            var path: String
        }

        var operations: [Operation]
    }

    private struct Problem: Decodable {
        var type: String
        var title: String
        var status: Int
        var detail: String
        var error: String
    }

    @Test func theDocumentIsWhatIsAnswered() async throws {
        try await PageFixture.with { (fixture) async throws in
            let page = fixture.page
            let text = try await page.get("/api/openapi.json")
            let document = try JSONDecoder().decode(OpenAPI.self, from: Data(text.body.utf8))
            let schema = try AnswerSchema(text.body)
            let ids = document.paths.values.flatMap { $0.values.map(\.operationId) }
            #expect(Set(ids).count == ids.count && ids.contains("getTablesNameRows"), "\(ids)")
            #expect(document.openapi == "3.1.0")
            let index = try JSONDecoder().decode(Index.self, from: Data(try await page.get("/api").body.utf8))
            let documented = document.paths.flatMap { path, methods in methods.keys.map { "\($0.uppercased()) \(path)" }
            }
            #expect(Set(documented) == Set(index.operations.map { "\($0.method) \($0.path)" }))
            let manual = try MarkdownFile("Documentation/Commands.md").lines.compactMap {
                $0.firstMatch(of: /^\| `((?:GET|POST) \/api[^`]*)` \|/).map { String($0.1) }
            }
            #expect(Set(manual) == Set(documented))

            for (path, methods) in document.paths {
                let address = path.replacing("{name}", with: "news")
                for (method, operation) in methods {
                    let place = "\(method) \(path)"
                    let inPath = operation.parameters.filter { $0.in == "path" }
                    #expect(
                        inPath.map { "{\($0.name)}" } == path.matches(of: /\{[^}]+\}/).map { String($0.0) }, "\(place)")
                    #expect(inPath.allSatisfy(\.required) && !operation.summary.isEmpty, "\(place)")
                    // The answer names the parameters that it knows.
                    let wrong =
                        method == "get"
                        ? try await page.get(address + "?nosuch=1") : try await page.post(address + "?nosuch=1")
                    #expect(wrong.status == 400, "\(place): \(wrong.status)")
                    let known = operation.parameters.filter { $0.in == "query" }.map(\.name).joined(separator: ", ")
                    let problem = try JSONDecoder().decode(Problem.self, from: Data(wrong.body.utf8))
                    #expect(problem.error == "unknown parameter 'nosuch'; known here: \(known)", "\(place)")
                    #expect(try schema.faults(wrong.body, of: method, path, "default") == [], "\(place)")
                    let other = method == "get" ? try await page.post(address) : try await page.get(address)
                    #expect(other.status == 404, "\(place)")
                    guard method == "get", operation.responses["200"]?.content["text/event-stream"] == nil else {
                        continue
                    }
                    let answer = try await page.get(address)
                    let type = try #require(answer.headers["content-type"])
                    #expect(
                        answer.status == 200 && operation.responses["200"]?.content[type] != nil, "\(place): \(type)")
                    let lines =
                        type.hasSuffix("jsonl") ? answer.body.split(separator: "\n").map(String.init) : [answer.body]
                    for line in lines { #expect(try schema.faults(line, of: method, path) == [], "\(place)") }
                }
            }
        }
    }

    /// Each answer has the members that its schema requires, and no member that it does not describe.
    @Test(.onEachStore) func answersAreAsTheDocumentDescribesThem() async throws {
        let hook = "[hooks.h]\nrun = [\"true\"]\non = [\"changed\"]\n"
        let numbers = """
            [[sources.numbers.requests]]
            url = "URL/numbers"
            [[sources.numbers.requests.tables]]
            table = "number"
            element = "n"
            key = ["id"]
            columns.id = { path = "@id", type = "integer", on_error = "skip" }

            """
        let defaults = "keep_bodies = 1\nallow_private = true"
        try await PageFixture.with(defaults: defaults, more: hook + numbers) { (fixture) async throws in
            let page = fixture.page
            let schema = try AnswerSchema(try await page.get("/api/openapi.json").body)
            func check(_ method: String, _ path: String, _ query: String = "") async throws -> String {
                let answer = try await method == "get" ? page.get(path + query) : page.post(path + query)
                #expect(answer.status == 200, "\(path + query): \(answer.body)")
                let isLines = answer.headers["content-type"] == "application/jsonl"
                for line in isLines ? answer.body.split(separator: "\n").map(String.init) : [answer.body] {
                    let faults = try schema.faults(line, of: method, path)
                    #expect(faults == [], "\(path + query): \(line)")
                }
                #expect(!answer.body.isEmpty)
                return answer.body
            }
            _ = try await check("post", "/api/try", "?url=\(fixture.server.url)/news")
            _ = try await check("post", "/api/replay", "?source=news")
            fixture.feeds.set("news", PageFixture.items(1...3, title: "new"))
            _ = try await check("post", "/api/plan", "?source=news&full=true")
            _ = try await check("post", "/api/refresh", "?source=news")
            try await fixture.wait("it is committed") { try fixture.store.rows("SELECT count(*) FROM news") == ["3"] }
            let undo = try JSONDecoder().decode(
                Plan.self, from: Data(try await check("post", "/api/undo", "?source=news").utf8))
            _ = try await check("get", "/api/changes", "?source=news")
            _ = try await check("get", "/api/changes", "?after=0")
            fixture.server.document("/numbers", "<r><n id='1'/><n id='x'/><n id='y'/></r>")
            _ = try await page.post("/api/refresh?source=numbers")
            let left = "SELECT max(run) FROM tributary_rejected"
            try await fixture.wait("records are left out") { try fixture.store.rows(left) != ["NULL"] }
            let rejected = try await check("get", "/api/rejected", "?source=numbers&limit=1")
            #expect(rejected.contains("\"key\":\"x\"") && !rejected.contains("\"next\":null"), "\(rejected)")
            let number = try fixture.store.rows(left)[0]
            let seen = try await page.get("/sources/numbers/runs/\(number)").body
            #expect(seen.contains("Records left out") && seen.contains("{&quot;id&quot;:&quot;x&quot;}"), "\(seen)")
            _ = try await check("post", "/api/undo", "?source=news&apply=\(undo.digest ?? "")")
            _ = try await check("post", "/api/pause", "?source=news")
            _ = try await check("post", "/api/resume", "?source=news")
            fixture.feeds.set("rates", PageFixture.items(1...1))
            _ = try await page.post("/api/refresh?source=rates")
            let blocked = "SELECT id FROM tributary_run WHERE source = 'rates' AND outcome = 'blocked'"
            try await fixture.wait("it is blocked") { try !fixture.store.rows(blocked).isEmpty }
            let run = try fixture.store.rows(blocked)[0]
            for (path, query) in [
                ("/api/status", ""), ("/api/history", ""), ("/api/review", ""),
                ("/api/review", "?run=\(run)&operation=delete"),
                ("/api", ""), ("/api/tables", ""),
            ] { _ = try await check("get", path, query) }
            _ = try await check("post", "/api/accept", "?source=rates&run=\(run)")
            _ = try await check("post", "/api/accept", "?source=news&in_advance=true")
            _ = try await check("post", "/api/withdraw", "?source=news")
        }
    }

    @Test(.onEachStore) func rowsComeAPageAtATime() async throws {
        struct Answer: Decodable {
            struct Row: Decodable {
                var id: String
                var title: String?
            }

            var table: String
            var rows: [Row]
            var next: String?
        }
        try await PageFixture.with { (fixture) async throws in
            var ids: [String] = []
            var after = ""
            repeat {
                let answer = try await fixture.page.get("/api/tables/news/rows?sort=id&order=desc&limit=3\(after)")
                let page = try JSONDecoder().decode(Answer.self, from: Data(answer.body.utf8))
                #expect(page.table == "news" && page.rows.count <= 3)
                ids += page.rows.map(\.id)
                after =
                    page.next.map {
                        "&after=" + ($0.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
                    } ?? ""
            } while !after.isEmpty && ids.count < 10
            #expect(ids == ["4", "3", "2", "1"])
            let tables = try await fixture.page.get("/api/tables").body
            #expect(tables.contains("\"name\":\"news\"") && tables.contains("\"sources\":[\"rates\"]"))
            #expect(!tables.contains("tributary_"))
            for (query, status) in [
                ("column=nosuch&is=eq&value=1", 400), ("is=eq", 400), ("limit=0", 400), ("limit=10001", 400),
                ("sort=id&sort=title", 400), ("sort=id&order=asc&order=desc", 400),
                ("column=id&is=eq&value=" + String(repeating: "9", count: 30_000), 400),
                ("after=x", 400), ("after=t1", 200), ("sort=id&after=t1", 400), ("column=id&is=eq&value=", 200),
            ] {
                let answer = try await fixture.page.get("/api/tables/news/rows?\(query)")
                #expect(answer.status == status, "\(query): \(answer.body)")
            }
        }
    }

    @Test(.onEachStore) func theChangelogIsReadBehindARow() async throws {
        struct Line: Decodable {
            var line: String
            var id: Int?
            var after: Int?
        }
        try await PageFixture.with { (fixture) async throws in
            func lines(_ query: String) async throws -> [Line] {
                try await fixture.page.get("/api/changes?\(query)").body.split(separator: "\n").map {
                    try JSONDecoder().decode(Line.self, from: Data($0.utf8))
                }
            }
            // A transaction of another test's database may hold the changelog up.
            try await fixture.wait("the changelog") {
                try await !lines("after=0").contains { $0.line == "held_up" }
            }
            let all = try await lines("after=0")
            let tail = try await fixture.program.run("tail", "--json")
            #expect(try await fixture.page.get("/api/changes?after=0").body == tail.standardOutput)
            #expect(
                all.map(\.line) == [String](repeating: "change", count: 4) + ["commit"]
                    + [String](repeating: "change", count: 4) + ["commit"])
            var ids: [Int] = []
            var place = 0
            while case let found = try await lines("after=\(place)&limit=3"), !found.isEmpty {
                #expect(found.filter { $0.line == "change" }.count <= 3)
                ids += found.compactMap(\.id)
                place = found.compactMap { $0.id ?? $0.after }.last ?? .max
            }
            #expect(ids == all.compactMap(\.id))
            #expect(try await lines("after=0&source=news").count == 5)
            for query in ["after=x", "after=-1", "after=999999", "after=0&run=1"] {
                #expect(try await fixture.page.get("/api/changes?\(query)").status == 400, "\(query)")
            }
        }
    }

    @Test(.onEachStore, .timeLimit(.minutes(2))) func eventsMissNoRun() async throws {
        try await PageFixture.with { (fixture) async throws in
            func ids(_ query: String, until count: Int) async throws -> [String] {
                var text = ""
                for try await part in fixture.page.events("/api/events?\(query)") {
                    text += part
                    // A chunk's end and a new line are one character.
                    if text.matches(of: /event: run/).count >= count { break }
                }
                return text.matches(of: /id: ([0-9.]+)\ndata: \{/).map { String($0.1) }
            }
            let all = try await ids("after=0.0", until: 2)
            #expect(all.count == 2)
            #expect(try await ids("after=\(all[0])", until: 1) == [all[1]])
            let followed = Mutex(false)
            let following = Task {
                let found = try await ids("source=news", until: 1)
                followed.withLock { $0 = true }
                return found
            }
            try await fixture.wait("the stream has begun, and the run is told") {
                fixture.feeds.set("news", PageFixture.items(1...4, title: UUID().uuidString))
                _ = try await fixture.page.post("/api/refresh?source=news")
                let isTold = try await !ids("after=\(all[1])&source=news", until: 1).isEmpty
                return isTold && followed.withLock(\.self)
            }
            #expect(try await !following.value.isEmpty)
            #expect(try await fixture.page.get("/api/events?after=x").status == 400)
            #expect(try await fixture.page.get("/api/events?source=nosuch").status == 404)
        }
    }

    /// Each look reads the store, and many clients may follow.
    @Test(.timeLimit(.minutes(3))) func manyRunsCauseFewLooks() async throws {
        try await PageFixture.with { (fixture) async throws in
            let start = ContinuousClock.now
            let following = Task {
                var text = ""
                for try await part in fixture.page.events("/api/events?source=news&after=0.0") {
                    text += part
                    if text.matches(of: /event: run/).count >= 31 { break }
                }
                return text
            }
            for number in 2...31 {
                fixture.feeds.set("news", PageFixture.items(1...4, title: "\(number)"))
                _ = try await fixture.page.post("/api/refresh?source=news")
                try await fixture.wait("run \(number)") {
                    try fixture.store.rows("SELECT count(*) FROM tributary_run WHERE source = 'news'") == ["\(number)"]
                }
            }
            let text = try await following.value
            let seconds = Double((ContinuousClock.now - start).components.seconds)
            let looks = text.matches(of: /: \n\n/.matchingSemantics(.unicodeScalar)).count
            #expect(Double(looks) <= seconds * 2 + 4, "\(looks) looks without a run in \(seconds) s")
        }
    }

    private struct Plan: Decodable {
        var digest: String?
        var inserted: Int
        var updated: Int
        var deleted: Int
    }

    /// What is shown is done, and nothing else.
    @Test(.onEachStore) func anUndoMakesTheChangesThatWereShown() async throws {
        try await PageFixture.with { (fixture) async throws in
            fixture.feeds.set("news", PageFixture.items(1...3, title: "new"))
            _ = try await fixture.page.post("/api/refresh?source=news")
            let ids = "SELECT id || title FROM news ORDER BY id"
            try await fixture.wait("it is committed") { try fixture.store.rows(ids) == ["1new", "2new", "3new"] }
            func plan() async throws -> Plan {
                try JSONDecoder().decode(
                    Plan.self, from: Data(try await fixture.page.post("/api/undo?source=news").body.utf8))
            }
            let former = try await plan()
            #expect((former.inserted, former.updated, former.deleted) == (1, 3, 0))
            #expect(try fixture.store.rows(ids) == ["1new", "2new", "3new"])
            fixture.feeds.set("news", PageFixture.items(1...3, title: "newer"))
            _ = try await fixture.page.post("/api/refresh?source=news")
            try await fixture.wait("it is committed") { try fixture.store.rows(ids) == ["1newer", "2newer", "3newer"] }
            let late = try await fixture.page.post("/api/undo?source=news&apply=\(former.digest ?? "")")
            #expect(late.status == 409 && late.body.contains("since the changes were shown"), "\(late.body)")
            #expect(try fixture.store.rows(ids) == ["1newer", "2newer", "3newer"])
            let shown = try await plan()
            let done = try await fixture.page.post("/api/undo?source=news&apply=\(shown.digest ?? "")")
            #expect(done.status == 200 && done.body.contains("\"kind\":\"undo\""), "\(done.body)")
            #expect(try fixture.store.rows(ids) == ["1new", "2new", "3new"])
            for (query, status) in [
                ("", 400), ("source=nosuch", 404), ("source=news&to=x", 400), ("source=news&apply=x", 409),
            ] {
                #expect(try await fixture.page.post("/api/undo?\(query)").status == status, "\(query)")
            }
        }
    }

    @Test func aReplayMakesTheChangesThatWereShown() async throws {
        try await PageFixture.with(defaults: "keep_bodies = 1") { (fixture) async throws in
            func replay(_ query: String) async throws -> PageClient.Answer {
                try await fixture.page.post("/api/replay?source=news\(query)")
            }
            let same = try JSONDecoder().decode(Plan.self, from: Data(try await replay("").body.utf8))
            #expect((same.inserted, same.updated, same.deleted) == (0, 0, 0) && same.digest != nil)
            // Somebody else writes to the table, and more than the limit of deletions allows.
            try fixture.store.execute("UPDATE news SET title = 'wrong' WHERE id <> '1'")
            try fixture.store.execute(
                "INSERT INTO news (id, title) VALUES ('a', 't'), ('b', 't'), ('c', 't'), ('d', 't'), ('e', 't')")
            let shown = try JSONDecoder().decode(Plan.self, from: Data(try await replay("").body.utf8))
            #expect((shown.updated, shown.deleted) == (3, 5))
            let late = try await replay("&apply=\(same.digest ?? "")")
            #expect(late.status == 409 && late.body.contains("than those that were shown"), "\(late.body)")
            let done = try await replay("&apply=\(shown.digest ?? "")")
            #expect(done.status == 200 && done.body.contains("\"updated\":3"), "\(done.body)")
            #expect(try fixture.store.rows("SELECT id || title FROM news ORDER BY id") == ["1t", "2t", "3t", "4t"])
        }
    }

    @Test func aPlanLooksPastTheLimit() async throws {
        try await PageFixture.with { (fixture) async throws in
            fixture.feeds.set("news", PageFixture.items(1...1, title: "new"))
            let answer = try await fixture.page.post("/api/plan?source=news&full=true&limit=2")
            let plan = try JSONDecoder().decode(Plan.self, from: Data(answer.body.utf8))
            #expect((plan.inserted, plan.updated, plan.deleted) == (0, 1, 3) && plan.digest == nil)
            #expect(answer.body.contains("\"blocked\":\"") && answer.body.contains("max_deleted"), "\(answer.body)")
            #expect(try fixture.store.rows("SELECT DISTINCT title FROM news") == ["t"])
            fixture.feeds.set("news", "<items", status: 200)
            let broken = try await fixture.page.post("/api/plan?source=news&full=true")
            #expect(broken.status == 409, "\(broken.body)")
            #expect(broken.headers["content-type"] == "application/problem+json")
        }
    }

    @Test func mistakesAreProblems() async throws {
        try await PageFixture.with(daemon: "rows = false") { (fixture) async throws in
            let unknown = try await fixture.page.get("/api/status?source=nosuch")
            let problem = try JSONDecoder().decode(Problem.self, from: Data(unknown.body.utf8))
            #expect(unknown.headers["content-type"] == "application/problem+json")
            #expect(problem.type == "about:blank" && problem.title == "Not Found" && problem.status == 404)
            #expect(problem.detail == "there is no source 'nosuch'" && problem.error == problem.detail)
            // What is switched off is not listed.
            for path in ["/api", "/api/openapi.json"] {
                #expect(try await !fixture.page.get(path).body.contains("/api/tables"), "\(path)")
            }
            for path in ["/api/tables", "/api/tables/news/rows"] {
                #expect(try await fixture.page.get(path).status == 404, "\(path)")
            }
        }
    }
}
