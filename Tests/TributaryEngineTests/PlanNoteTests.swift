import FeedConfiguration
import FeedModel
import FeedStores
import Foundation
import TestEngine
import TestSupport
import Testing

@testable import TributaryEngine

/// The notes of a plan, and the advice of errors, on documents that are not what a request expects.
@Suite struct PlanNoteTests {
    private static func source(_ options: String = "") -> String {
        """
        [[sources.s.requests]]
        url = "URL/a"
        tables = [{ table = "t", element = "i", key = ["id"], columns = { id = "@id" } }]
        \(options)
        """
    }

    private func notes(_ document: String, _ headers: [String: String] = [:], _ options: String = "") async throws
        -> [String]
    {
        try await plan(document, headers, options)?.notes ?? []
    }

    private func plan(_ document: String, _ headers: [String: String] = [:], _ options: String) async throws
        -> StackPlan?
    {
        var plan: StackPlan?
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.route("/a") { _ in StubServer.response(200, document, headers) }
            let service = try fixture.service(Self.source(options), clock: SystemClock())
            let source = try #require(try fixture.configuration(Self.source(options))[source: "s"])
            plan = try await service.plan(source, bodies: [:], ignoresValidators: true) { _ in }
            try service.store.close()
        }
        return plan
    }

    @Test func aFurtherPageIsNoted() async throws {
        let document = "<r><i id='1'/><meta><next_cursor>c</next_cursor></meta></r>"
        #expect(
            try await notes(document) == [
                "request '1': the response names a further page, at /r/meta/next_cursor, and only the first one is read; "
                    + "page = { token = \"/r/meta/next_cursor\", parameter = \"…\" } follows the pages"
            ])
        #expect(
            try await notes("<r><i id='1'/></r>", ["Link": "</b>; rel=\"next\""]) == [
                "request '1': the response names a further page, in its Link header, and only the first one is read; "
                    + "page = { link = true } follows the pages"
            ])
        #expect(
            try await notes(document, [:], "page = { token = \"/r/meta/cursr\", parameter = \"c\" }") == [
                "request '1': the response has no '/r/meta/cursr' and names a further page at /r/meta/next_cursor; "
                    + "correct page.token"
            ])
        #expect(try await notes("<r><i id='1'/><next_cursor/></r>").isEmpty)
        #expect(
            try await notes("<r><i id='1'/><next>/b</next></r>", [:], "page = { next = \"/r/nxt\" }") == [
                "request '1': the response has no '/r/nxt' and names a further page at /r/next; correct page.next"
            ])
    }

    /// What `page` and `capture` read is used. What stands beside it is not mapped.
    @Test(arguments: [
        ("page = { token = \"/r/meta/cursor\", parameter = \"c\" }", ["/r/meta/@page", "/r/meta/total", "/r/rest"]),
        ("page = { next = \"/r/meta/@page\" }", ["/r/meta/cursor", "/r/meta/total", "/r/rest"]),
        ("capture = { total = \"string(/r/meta)\" }", ["/r/meta/@page", "/r/rest"]),
        ("", ["/r/meta", "/r/rest"]),
    ])
    func whatPagesAndCapturesReadIsNotUnmapped(options: String, expected: [String]) async throws {
        let document = "<r><i id='1'/><meta page=''><cursor/><total>9</total></meta><rest/></r>"
        #expect(try await plan(document, [:], options)?.elements.map(\.path) == expected)
    }

    @Test(arguments: [
        (203, "", "203 Non-Authoritative Information; accept_status is [200]"),
        (401, "", "401 Unauthorized; check the request's 'auth' and 'headers'"),
        (403, "auth = { bearer = \"token\" }", "403 Forbidden; check the request's 'auth' and 'headers'"),
        (405, "", "405 Method Not Allowed; check the request's url, method and headers"),
        (500, "", "500 Internal Server Error; the request is repeated later"),
        (999, "", "999; accept_status is [200]"),
    ])
    func anErrorAdvisesAboutAStatus(status: Int, options: String, expected: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.route("/a") { _ in StubServer.response(status, "<r/>") }
            let report = try #require(await fixture.sync(Self.source(options)).first)
            #expect(report.error?.contains("the server answered \(expected)") == true, "\(report)")
        }
    }

    @Test(arguments: [
        "auth = { bearer = \"${file:token}\" }", "headers = { Authorization = \"Bearer ${file:token}\" }",
    ])
    func aRefusedTokenFromAFileMayBeANewOne(options: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            try fixture.folder.write("old-token", to: "token")
            fixture.server.route("/a") { _ in StubServer.response(401, "") }
            let error = try #require(await fixture.sync(Self.source(options)).first?.error)
            #expect(error.hasSuffix("'headers'; a token from a file is read at the start and at a reload"), "\(error)")
        }
    }

    @Test func anErrorNamesTheAddressOfARedirect() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.route("/a") { _ in
                [StubServer.head(302, ["Location": "/gone", "Content-Length": "0"])]
            }
            fixture.server.route("/gone") { _ in StubServer.response(404, "") }
            let report = try #require(await fixture.sync(Self.source()).first)
            let expected = "/a, redirected to \(fixture.server.url)/gone: the server answered 404 Not Found"
            #expect(report.error?.contains(expected) == true, "\(report)")
        }
    }

    @Test(arguments: [
        ("<r><i id='1'/>a & b</r>", "ampersands"), ("<r><i id='1'/>a < b</r>", "ampersands"),
        ("<r><i id='1'/>&nbsp;</r>", "entities"), ("<r><i id='1'/>\u{B}</r>", "characters"),
    ])
    func anErrorNamesTheRepair(document: String, fault: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.route("/a") { _ in StubServer.response(200, document) }
            let report = try #require(await fixture.sync(Self.source()).first)
            let advice = "; set repair = [\"\(fault)\"] to accept such documents"
            #expect(report.error?.hasSuffix(advice) == true, "\(report)")
            let mended = try #require(await fixture.sync(Self.source("repair = [\"\(fault)\"]")).first)
            #expect(mended.outcome == .committed, "\(mended)")
        }
    }
}
