import FeedModel
import FeedStaging
import FeedStores
import SQLiteStore
import Foundation
import TestEngine
import TestSupport
import Testing
@testable import FeedFetching
@testable import TributaryEngine

/// The same over HTTP/2.
@Suite struct HTTP2AnswerTests {
    struct Broken: Sendable, CustomTestStringConvertible {
        var name: String
        var frames: @Sendable (Int) -> [UInt8]
        var testDescription: String { name }

        init(_ name: String, _ frames: @escaping @Sendable (Int) -> [UInt8]) {
            self.name = name
            self.frames = frames
        }

        static func status(_ status: String, ends: Bool) -> Broken {
            Broken("status '\(status)'\(ends ? ", no body" : "")") { stream in
                HTTP2Frames.headers([(":status", status)], stream: stream, ends: ends)
                    + (ends ? [] : HTTP2Frames.data("<items/>", stream: stream))
            }
        }
    }

    private static let items = "<items><item id='1'/></items>"

    static let broken: [Broken] =
        [
            "000", "-1", "", "1", "20", "099", "1000", "+200", " 200", "200 ", "0xc8", "٢٠٠", "18446744073709551616",
            "abc",
            "101",
        ].flatMap { [Broken.status($0, ends: false), Broken.status($0, ends: true)] } + [
            Broken("no status") {
                HTTP2Frames.headers([("x", "y")], stream: $0) + HTTP2Frames.data(items, stream: $0)
            },
            Broken("two statuses") {
                HTTP2Frames.headers([(":status", "200"), (":status", "200")], stream: $0)
                    + HTTP2Frames.data(items, stream: $0)
            },
            Broken("101, then 200") {
                HTTP2Frames.headers([(":status", "101")], stream: $0)
                    + HTTP2Frames.headers([(":status", "200")], stream: $0) + HTTP2Frames.data(items, stream: $0)
            },
            Broken("an interim answer that ends") { HTTP2Frames.headers([(":status", "103")], stream: $0, ends: true) },
            Broken("a body after an interim answer") {
                HTTP2Frames.headers([(":status", "103")], stream: $0) + HTTP2Frames.data(items, stream: $0)
            },
            Broken("101 interim answers") { stream in
                (0..<101).flatMap { _ in HTTP2Frames.headers([(":status", "103")], stream: stream) }
                    + HTTP2Frames.headers([(":status", "200")], stream: stream)
                    + HTTP2Frames.data(items, stream: stream)
            },
            Broken("a body without a head") { HTTP2Frames.data(items, stream: $0) },
            Broken("trailers that do not end") { stream in
                HTTP2Frames.headers([(":status", "200")], stream: stream)
                    + HTTP2Frames.data(items, stream: stream, ends: false)
                    + HTTP2Frames.headers([("x", "y")], stream: stream)
                    + HTTP2Frames.headers([("x", "y")], stream: stream, ends: true)
            },
            Broken("trailers with a status") { stream in
                HTTP2Frames.headers([(":status", "200")], stream: stream)
                    + HTTP2Frames.data(items, stream: stream, ends: false)
                    + HTTP2Frames.headers([(":status", "200")], stream: stream, ends: true)
            },
            Broken("a wrong length") {
                HTTP2Frames.headers([(":status", "200"), ("content-length", "5")], stream: $0)
                    + HTTP2Frames.data(items, stream: $0)
            },
            Broken("a negative length") {
                HTTP2Frames.headers([(":status", "200"), ("content-length", "-5")], stream: $0)
                    + HTTP2Frames.data(items, stream: $0)
            },
            Broken("a reset") { HTTP2Frames.reset(2, stream: $0) },
            Broken("a stream that nobody opened") { HTTP2Frames.headers([(":status", "200")], stream: $0 + 2) },
            Broken("a frame over its limit") { HTTP2Frames.frame(0, stream: $0, [UInt8](repeating: 0, count: 70_000)) },
            Broken("a window that overflows") { HTTP2Frames.frame(8, stream: $0, [0x7F, 0xFF, 0xFF, 0xFF]) },
            Broken("a window of the connection that overflows") { _ in
                HTTP2Frames.frame(8, stream: 0, [0x7F, 0xFF, 0xFF, 0xFF])
            },
            Broken("a promise") { HTTP2Frames.frame(5, flags: 4, stream: $0, [0, 0, 0, 2, 0x88]) },
            Broken("a fields block that is none") {
                HTTP2Frames.frame(1, flags: 5, stream: $0, [0xFF, 0xFF, 0xFF, 0xFF])
            },
            Broken("not HTTP/2") { _ in Array("HTTP/1.1 200 OK\r\n\r\n".utf8) },
        ]

    private func sync(
        _ server: HTTP2StubServer, _ fixture: EngineFixture, timeout: String = "60s"
    ) async throws -> RunReport {
        try fixture.folder.write(TestCertificate.certificate, to: "ca.pem")
        return try #require(
            try await fixture.sync(
                """
                [[sources.s.requests]]
                url = "\(server.url)/a"
                tls = { ca = "ca.pem" }
                timeout = "\(timeout)"
                connect_timeout = "\(timeout)"
                parser = "ItemsParser"
                """
            ).first)
    }

    @Test(arguments: broken)
    func aBrokenAnswerIsADiscardedRun(answer: Broken) async throws {
        try await EngineFixture.with { (fixture) async throws in
            // What it does not close itself, the server closes.
            try await withHTTP2StubServer { request in
                answer.frames(request.stream) + HTTP2Frames.reset(1, stream: request.stream)
                    + HTTP2Frames.frame(7, stream: 0, [0, 0, 0, 1, 0, 0, 0, 0])
            } _: { server in
                // What no handler refuses ends with its time.
                let report = try await sync(server, fixture, timeout: "5s")
                #expect(report.outcome == .discarded, "\(report)")
                #expect(try fixture.rows("SELECT outcome FROM tributary_run") == ["discarded"])
                ConnectionTests.expectWords(report.error ?? "")
            }
        }
    }

    @Test func interimAnswersAndTrailersAreSkipped() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try await withHTTP2StubServer { request in
                HTTP2Frames.headers([(":status", "103")], stream: request.stream)
                    + HTTP2Frames.headers([(":status", "200"), ("etag", "\"1\"")], stream: request.stream)
                    + HTTP2Frames.data(Self.items, stream: request.stream, ends: false)
                    + HTTP2Frames.headers([("x-sum", "y")], stream: request.stream, ends: true)
            } _: { server in
                let report = try await sync(server, fixture)
                #expect(report.outcome == .committed, "\(report)")
                #expect(try fixture.rows("SELECT etag FROM tributary_request") == ["\"1\""])
                // What is ours alone is not sent.
                #expect(server.requests.first?[RequestCorrelation.header] == nil)
                #expect(server.requests.first?[":authority"] != nil)
            }
        }
    }

    @Test func anEntityTagInUTF8GoesBackAndOneThatIsNotIsNotKept() async throws {
        try await EngineFixture.with { (fixture) async throws in
            for (tag, isKept) in [(Array("\"é\"".utf8), true), ([0x22, 0xE9, 0x22], false)] {
                try await withHTTP2StubServer { request in
                    HTTP2Frames.headers([(":status", Array("200".utf8)), ("etag", tag)], stream: request.stream)
                        + HTTP2Frames.data(Self.items, stream: request.stream)
                } _: { server in
                    _ = try await sync(server, fixture)
                    _ = try await sync(server, fixture)
                    #expect(server.requests.map { $0["if-none-match"] } == [nil, isKept ? "\"é\"" : nil])
                }
            }
        }
    }

    private func stack(_ server: HTTP2StubServer, _ fixture: EngineFixture, _ options: String = "") throws -> String {
        try fixture.folder.write(TestCertificate.certificate, to: "ca.pem")
        return ["/a", "/b"].map { path in
            """
            [[sources.s.requests]]
            url = "\(server.url)\(path)"
            tls = { ca = "ca.pem" }
            connect_timeout = "60s"
            timeout = "60s"
            parser = "ItemsParser"
            \(options)

            """
        }.joined()
    }

    private static func ok(_ stream: Int) -> [UInt8] {
        HTTP2Frames.headers([(":status", "200")], stream: stream) + HTTP2Frames.data(items, stream: stream)
    }

    /// A server that goes away says which requests it has not processed (RFC 9113, section 6.8): they are sent again,
    /// whatever they are.
    @Test(arguments: ["GET", "POST"])
    func aRequestThatCrossesWithGOAWAYIsSentAgain(method: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            try await withHTTP2StubServer { request in
                guard request.number == 1 else {
                    return HTTP2Frames.frame(7, stream: 0, [0, 0, 0, 1, 0, 0, 0, 0])
                }
                return Self.ok(request.stream)
            } _: { server in
                let report = try await fixture.sync(stack(server, fixture, "method = \"\(method)\"\nretries = 0"))
                #expect(report.first?.outcome == .committed, "\(report)")
                #expect(server.requests.map { $0[":path"] } == ["/a", "/b", "/b"])
            }
        }
    }

    /// What the server has processed, or may have, is not: here the GOAWAY names the stream itself.
    @Test func aRequestThatGOAWAYSaysMayBeProcessedIsNot() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try await withHTTP2StubServer { request in
                guard request.number == 1 else {
                    return HTTP2Frames.frame(7, stream: 0, [0, 0, 0, UInt8(request.stream), 0, 0, 0, 0])
                        + HTTP2Frames.reset(8, stream: request.stream)
                }
                return Self.ok(request.stream)
            } _: { server in
                let report = try await fixture.sync(stack(server, fixture, "method = \"POST\""))
                #expect(report.first?.outcome == .discarded, "\(report)")
                #expect(report.first?.error?.contains("broke off the request (HTTP/2: CANCEL)") == true, "\(report)")
                #expect(server.requests.count == 2)
            }
        }
    }

    /// A stream that is refused was not processed (RFC 9113, section 8.7).
    @Test(arguments: ["GET", "POST"])
    func aRequestThatIsRefusedIsSentAgain(method: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let count = Counter()
            try await withHTTP2StubServer { request in
                count.enter()
                return count.total <= 3 ? HTTP2Frames.reset(7, stream: request.stream) : Self.ok(request.stream)
            } _: { server in
                let report = try await fixture.sync(stack(server, fixture, "method = \"\(method)\""))
                #expect(report.first?.outcome == .committed, "\(report)")
                #expect(server.requests.count == 5)
            }
            try await withHTTP2StubServer { request in
                HTTP2Frames.reset(7, stream: request.stream)
            } _: { server in
                let report = try await fixture.sync(stack(server, fixture, "method = \"\(method)\""))
                #expect(report.first?.error?.contains("repeatedly refused the request") == true, "\(report)")
                #expect(server.requests.count == 9)
            }
        }
    }

    @Test func aConnectionThatIsClosedInsteadOfAnsweringIsReplaced() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try fixture.folder.write(TestCertificate.certificate, to: "ca.pem")
            try await withHTTP2StubServer { request in
                guard request.number == 1 else { return nil }
                return HTTP2Frames.headers([(":status", "200")], stream: request.stream)
                    + HTTP2Frames.data(Self.items, stream: request.stream)
            } _: { server in
                let request = """
                    [[sources.s.requests]]
                    url = "\(server.url)/a"
                    tls = { ca = "ca.pem" }
                    connect_timeout = "60s"
                    timeout = "60s"
                    parser = "ItemsParser"

                    """
                let report = try await fixture.sync(request + request.replacingOccurrences(of: "/a", with: "/b"))
                #expect(report.first?.outcome == .committed, "\(report)")
                #expect(server.requests.count == 3)
            }
        }
    }
}
