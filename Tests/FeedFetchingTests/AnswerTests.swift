import FeedModel
import FeedStaging
import FeedStores
import SQLiteStore
import Foundation
import NIOCore
import NIOEmbedded
import NIOHTTP1
import TestEngine
import TestSupport
import Testing
@testable import FeedFetching
@testable import TributaryEngine

/// Whatever a server answers, the run is discarded and the process lives.
@Suite struct AnswerTests {
    static let broken: [String] = [
        "HTTP/1.1 000 Zero\r\nContent-Length: 3\r\n\r\nabc", "HTTP/1.1 000 Zero\r\n\r\n",
        "HTTP/1.1 001 One\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 042 X\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 099 X\r\nContent-Length: 9\r\n\r\n<items/>", "HTTP/1.0 050 X\r\n\r\n<items/>",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n\u{1}\u{2}",
        "HTTP/1.1 101 Switching Protocols\r\nContent-Length: 8\r\n\r\n<items/>",
        "HTTP/1.1 101 A\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n<items/>",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 000 Zero\r\nContent-Length: 3\r\n\r\nabc",
        "HTTP/1.1 -01 X\r\n\r\n", "HTTP/1.1 2000 X\r\n\r\n", "HTTP/1.1 20 X\r\n\r\n", "HTTP/1.1  \r\n\r\n",
        "HTTP/2.0 200 OK\r\n\r\n", "HTTP/9.9 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551616\r\n\r\n<items/>",
        "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\n<items/>",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 8\r\n\r\n<items/>",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n<items/>",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-8\r\n<items/>\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: \(String(repeating: "x", count: 100_000))\r\n\r\n",
        "HTTP/1.1 200 OK\r\n" + String(repeating: "X: y\r\n", count: 300) + "\r\n<items/>",
        "HTTP/1.1 200 OK\r\n: nameless\r\n\r\n<items/>",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n: nameless\r\n\r\n",
        String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n", count: 101)
            + "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n<items/>",
        "\r\n\r\n\r\n", "\u{0}\u{0}\u{0}\u{0}", "ICY 200 OK\r\n\r\n",
    ]

    @Test(arguments: broken)
    func aBrokenAnswerIsADiscardedRun(answer: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.route("/a") { _ in [.send(Array(answer.utf8)), .close] }
            let source = EngineFixture.request("/a", "timeout = \"5s\"")
            let report = try #require(try await fixture.sync(source).first)
            #expect(report.outcome == .discarded, "\(report)")
            #expect(report.requests.first?.outcome == .failed)
            #expect(try fixture.rows("SELECT outcome FROM tributary_run") == ["discarded"])
            ConnectionTests.expectWords(report.error ?? "")
        }
    }

    @Test func interimAnswersAndTrailersAreSkipped() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.route("/a") { _ in
                let items = EngineFixture.items(["1"])
                let chunks = "\(String(items.utf8.count, radix: 16))\r\n\(items)\r\n0\r\nETag: \"no\"\r\n\r\n"
                return [
                    .send(Array("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nETag: \"no\"\r\n\r\n".utf8)),
                    StubServer.head(200, ["ETag": "\"yes\"", "Transfer-Encoding": "chunked"]),
                    .send(Array(chunks.utf8)),
                ]
            }
            #expect(try await fixture.sync(EngineFixture.request("/a")).first?.outcome == .committed)
            #expect(try fixture.rows("SELECT etag FROM tributary_request") == ["\"yes\""])
            // What is ours alone is not sent.
            #expect(fixture.server.requests("/a").first?.headers[RequestCorrelation.header] == nil)
        }
    }

    @Test func anAnswerThatNobodyAskedForEndsItsConnection() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let items = EngineFixture.items(["1"])
            fixture.server.route("/a") { _ in
                StubServer.response(200, items) + [.send(Array("HTTP/1.1 000 More\r\nContent-Length: 1\r\n\r\nx".utf8))]
            }
            fixture.server.document("/b", items)
            let reports = try await fixture.sync(EngineFixture.request("/a") + EngineFixture.request("/b"))
            #expect(reports.first?.outcome == .committed, "\(reports)")
        }
    }

    /// More bytes than an answer has: the next request goes on another connection, and what is left over is no answer.
    @Test(arguments: [
        "x", "HTTP/1.", "<items/>", "\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 29\r\n\r\n<items><item id='9'/></items>",
        "HTTP/1.1 000 More\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Le",
    ])
    func whatIsLeftOverSpoilsNoOtherRequest(rest: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            for isChunked in [false, true] {
                let items = EngineFixture.items(["1"])
                let head = isChunked ? ["Transfer-Encoding": "chunked"] : ["Content-Length": "\(items.utf8.count)"]
                let body = isChunked ? "\(String(items.utf8.count, radix: 16))\r\n\(items)\r\n0\r\n\r\n" : items
                fixture.server.route("/a") { _ in [StubServer.head(200, head), .send(Array((body + rest).utf8))] }
                for path in ["/b", "/c"] { fixture.server.document(path, EngineFixture.items([path])) }
                let stack = ["/a", "/b", "/c"].map { EngineFixture.request($0) }.joined()
                for _ in 0..<3 {
                    let report = try #require(try await fixture.sync(stack).first)
                    #expect(report.error == nil, "\(report)")
                }
                #expect(try fixture.rows("SELECT id FROM item ORDER BY id") == ["/b", "/c", "1"])
            }
        }
    }

    /// A POST may have been received on the connection, and is not sent twice.
    @Test func whatIsLeftOverMakesNobodySendAPOSTTwice() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let items = EngineFixture.items(["1"])
            fixture.server.route("/a") { _ in StubServer.response(200, items) + [.send(Array("HTTP/1.".utf8))] }
            fixture.server.document("/b", items)
            let post = EngineFixture.request("/b", "method = \"POST\"")
            _ = try await fixture.sync(EngineFixture.request("/a") + post)
            #expect(fixture.server.requests("/b").count == 1)
        }
    }

    /// async-http-client may write the next request as soon as an answer has ended.
    @Test(arguments: [false, true])
    func aRequestThatIsWaitingForTheConnectionIsNotAnsweredByWhatIsLeftOver(isWhole: Bool) throws {
        let correlation = RequestCorrelation()
        let channel = EmbeddedChannel()
        let bytes = HTTP1Bytes()
        let client = NextRequest()
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandlers([
            bytes, HTTPRequestEncoder(),
            ByteToMessageHandler(HTTPResponseDecoder(informationalResponseStrategy: .forward)),
            HTTP1Answers(bytes: bytes, correlation: correlation), client,
        ])
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
        client.send("/1", channel)
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
        try channel.writeInbound(ByteBuffer(string: answer + "ok" + answer + (isWhole ? "no" : "")))
        channel.embeddedEventLoop.run()
        #expect(client.heads == 1 && client.ends == 1)
        #expect(!channel.isActive)
        var sent = ""
        while let part = try channel.readOutbound(as: ByteBuffer.self) { sent += String(buffer: part) }
        #expect(sent.contains("GET /1") && !sent.contains("GET /2"))
        _ = try? channel.finish()
    }

    /// Counts answers, and sends another request at the end of each.
    private final class NextRequest: ChannelInboundHandler {
        typealias InboundIn = HTTPClientResponsePart
        private(set) var heads = 0
        private(set) var ends = 0

        func send(_ path: String, _ channel: EmbeddedChannel) {
            let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: path, headers: ["Host": "h"])
            channel.pipeline.syncOperations.write(NIOAny(HTTPClientRequestPart.head(head)), promise: nil)
            channel.pipeline.syncOperations.writeAndFlush(NIOAny(HTTPClientRequestPart.end(nil)), promise: nil)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head: heads += 1
            case .end:
                ends += 1
                if let channel = context.channel as? EmbeddedChannel { send("/2", channel) }
            case .body: break
            }
        }
    }

    @Test(arguments: [
        [0x22, 0x63, 0x61, 0x66, 0xE9, 0x22], [0x22, 0xC3, 0xA9, 0x22], [0x22, 0xFF, 0xFE, 0x80, 0xBF, 0xC3, 0x22],
        Array("W/\"plain\"".utf8),
    ])
    func anEntityTagGoesBackByteForByte(tag: [UInt8]) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let wanted = Array("If-None-Match: ".utf8) + tag + Array("\r\n".utf8)
            fixture.server.route("/a") { request in
                let head = Data(request.head)
                if head.range(of: Data(wanted)) != nil { return [StubServer.head(304, [:])] }
                // In pieces, so that a byte may stand at any end.
                return [.send(Array("HTTP/1.1 200 OK\r\nX-Other: \u{E9}\r\neTaG: ".utf8))]
                    + tag.map { .send([$0]) }
                    + [.send(Array("\r\nContent-Length: 37\r\n\r\n<items><item id='1'/>ETag: \u{E9}</items>".utf8))]
            }
            let source = EngineFixture.request("/a")
            let first = try await fixture.sync(source)
            #expect(first.first?.outcome == .committed, "\(first)")
            #expect(try await fixture.sync(source).first?.outcome == .unchanged)
        }
    }

    @Test(arguments: [nil, UInt8(0x01), 0x7F, 0x1B])
    func whatCannotBeSentBackIsNotKept(control: UInt8?) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let tag = control.map { [0x22, $0, 0x22] } ?? Array("\"\(String(repeating: "x", count: 5_000))\"".utf8)
            fixture.server.route("/a") { _ in
                [.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 29\r\nETag: ".utf8) + tag)]
                    + [.send(Array("\r\n\r\n<items><item id='1'/></items>".utf8))]
            }
            // A codec may refuse it first; no run after it may fail for what this one kept.
            _ = try await fixture.sync(EngineFixture.request("/a"))
            fixture.server.document("/a", EngineFixture.items(["1"]))
            #expect(try await fixture.sync(EngineFixture.request("/a")).first?.error == nil)
        }
    }
}
