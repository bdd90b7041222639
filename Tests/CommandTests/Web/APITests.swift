import Foundation
import TestStores
import TestSupport
import Testing

/// What `/api` says of itself, compared with what it answers.
@Suite(.serialized, .onEachStore) struct APITests {
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
                    let other = method == "get" ? try await page.post(address) : try await page.get(address)
                    #expect(other.status == 404, "\(place)")
                    guard method == "get" else { continue }
                    let answer = try await page.get(address)
                    let type = try #require(answer.headers["content-type"])
                    #expect(
                        answer.status == 200 && operation.responses["200"]?.content[type] != nil, "\(place): \(type)")
                }
            }
        }
    }

    @Test func rowsComeAPageAtATime() async throws {
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
                ("after=x", 400), ("after=t1", 200), ("sort=id&after=t1", 400), ("column=id&is=eq&value=", 200),
            ] {
                let answer = try await fixture.page.get("/api/tables/news/rows?\(query)")
                #expect(answer.status == status, "\(query): \(answer.body)")
            }
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
