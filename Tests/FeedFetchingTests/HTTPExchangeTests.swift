import AsyncHTTPClient
import FeedModel
import Foundation
import NIOCore
import NIOHTTP1
import TestEngine
import Testing
@testable import FeedConfiguration
@testable import FeedFetching

/// The steps of a request's way to its response, without a server.
@Suite struct HTTPExchangeTests {
    private static func request(
        _ method: String = "GET", _ url: String = "https://a.test/feed", headers: [String: String] = [:],
        body: String? = nil, authentication: Authentication? = nil
    ) -> RequestDeclaration {
        var request = RequestDeclaration(
            key: "k", url: InterpolatedText(url), timeout: .seconds(1),
            transport: Transport(connectTimeout: .seconds(1)), maxBody: 1_000, content: .captures)
        request.method = method
        request.headers = headers.mapValues { InterpolatedText($0) }
        request.body = body.map { RequestBody(text: InterpolatedText($0)) }
        request.authentication = authentication
        return request
    }

    private static let client = ClientCredentials(
        tokenURL: InterpolatedText("https://login.test/"), clientID: InterpolatedText("id"),
        clientSecret: InterpolatedText("secret"), parameters: [:], place: .header)

    private static func begin(
        _ request: RequestDeclaration, _ validators: Validators = Validators(), movedTo: String? = nil
    ) throws -> (HTTPExchange, HTTPExchange.Step) {
        var exchange = try HTTPExchange(request.prepare(), validators: validators, movedTo: movedTo)
        let step = exchange.begin()
        return (exchange, step)
    }

    private static func message(_ step: HTTPExchange.Step) throws -> HTTPExchange.Message {
        guard case .send(let message) = step else { throw Unexpected(step: "\(step)") }
        return message
    }

    private static func result(_ step: HTTPExchange.Step) throws -> HTTPExchange.Result {
        guard case .finish(let result) = step else { throw Unexpected(step: "\(step)") }
        return result
    }

    private struct Unexpected: Error {
        var step: String
    }

    // MARK: - Redirects

    /// Statuses, the method before and after, and whether the new address is kept.
    @Test(arguments: [
        ("GET", 301, "GET", true), ("GET", 302, "GET", false), ("GET", 303, "GET", false), ("GET", 307, "GET", false),
        ("GET", 308, "GET", true), ("POST", 301, "GET", false), ("POST", 302, "GET", false),
        ("POST", 303, "GET", false), ("POST", 307, "POST", false), ("POST", 308, "POST", true),
        ("PUT", 301, "PUT", true), ("PUT", 303, "GET", false), ("HEAD", 303, "HEAD", false),
    ])
    func aRedirectIsFollowed(method: String, status: Int, next: String, isKept: Bool) throws {
        let body = method == "POST" || method == "PUT" ? "text" : nil
        var (exchange, step) = try Self.begin(
            Self.request(method, headers: ["Content-Type": "text/plain", "X-Key": "1"], body: body))
        #expect(try Self.message(step).body == body)
        step = try exchange.receive(status: status, location: "/new", from: nil)
        let message = try Self.message(step)
        #expect(message.url.absoluteString == "https://a.test/new")
        #expect(message.method == next)
        #expect(message.body == (next == method ? body : nil))
        #expect(message.headers.contains(name: "Content-Type") == (next == method))
        #expect(message.headers.contains(name: "X-Key"))
        step = try exchange.receive(status: 200, location: nil, from: nil)
        #expect(try Self.result(step).movedTo == (isKept ? "https://a.test/new" : nil))
    }

    /// One redirect that is not permanent makes the address one of today.
    @Test func onlyPermanentRedirectsAloneAreKept() throws {
        for statuses in [[301, 302], [302, 308]] {
            var (exchange, step) = try Self.begin(Self.request())
            for status in statuses { step = try exchange.receive(status: status, location: "/\(status)", from: nil) }
            step = try exchange.receive(status: 304, location: nil, from: nil)
            let url = try Self.url("/\(statuses[1])")
            #expect(try Self.result(step) == HTTPExchange.Result(url: url, origin: url.origin, movedTo: nil))
        }
    }

    private static func url(_ path: String) throws -> URL { try #require(URL(string: "https://a.test\(path)")) }

    @Test func anotherOriginGetsNoSecrets() throws {
        var (exchange, step) = try Self.begin(
            Self.request(
                headers: ["X-Key": "1", "Accept": "text/xml"], authentication: .bearer(InterpolatedText("t"))),
            Validators(etag: "\"1\""))
        #expect(try Self.message(step).headers["Authorization"] == ["Bearer t"])
        step = try exchange.receive(status: 302, location: "https://b.test/", from: IPAddress(literal: "192.0.2.1"))
        let message = try Self.message(step)
        #expect(!message.headers.contains(name: "Authorization") && !message.headers.contains(name: "X-Key"))
        #expect(message.headers["Accept"] == ["text/xml"] && message.headers["If-None-Match"] == ["\"1\""])
        #expect(
            message.provenance
                == AddressProvenance(
                    namer: "a redirect of https://a.test:443", origin: "https://a.test:443",
                    from: IPAddress(literal: "192.0.2.1")))
    }

    /// Answers that end the exchange with an error, and what it names.
    @Test(arguments: [
        ("GET", 302, nil as String?, "without a Location"), ("GET", 302, "http://a.test/", "from https to http"),
        ("GET", 302, "ftp://a.test/", "cannot be used"), ("POST", 307, "https://b.test/", "another origin"),
    ])
    func aRedirectIsRefused(method: String, status: Int, location: String?, message: String) throws {
        var (exchange, _) = try Self.begin(Self.request(method, body: method == "POST" ? "text" : nil))
        let error = #expect(throws: FetchError.self) {
            _ = try exchange.receive(status: status, location: location, from: nil)
        }
        #expect(error?.message.contains(message) == true, "\(String(describing: error))")
    }

    @Test func redirectsEnd() throws {
        var (exchange, _) = try Self.begin(Self.request())
        for number in 0..<HTTPExchange.redirectLimit {
            _ = try Self.message(try exchange.receive(status: 302, location: "/\(number)", from: nil))
        }
        #expect(throws: FetchError.self) {
            _ = try exchange.receive(status: 302, location: "/6", from: nil)
        }
    }

    // MARK: - Where the first message goes

    @Test func aPermanentRedirectIsRemembered() throws {
        let request = Self.request(headers: ["X-Key": "1"])
        let message = try Self.message(try Self.begin(request, movedTo: "https://b.test/new").1)
        #expect(message.url.absoluteString == "https://b.test/new")
        #expect(!message.headers.contains(name: "X-Key"))
        #expect(message.namedBy?.absoluteString == "https://a.test/feed")
        let post = Self.request("POST", body: "text")
        #expect(try Self.message(try Self.begin(post, movedTo: "https://b.test/new").1).url == Self.url("/feed"))
        #expect(try Self.message(try Self.begin(post, movedTo: "https://a.test/new").1).url == Self.url("/new"))
    }

    // MARK: - Tokens

    /// A known token that the server refuses is renewed once; a new one that it refuses is an answer.
    @Test(arguments: [false, true]) func aRefusedTokenIsRenewedOnce(isNew: Bool) throws {
        var (exchange, step) = try Self.begin(Self.request(authentication: .oauth2(Self.client)))
        guard case .authenticate(Self.client, refused: nil) = step else { throw Unexpected(step: "\(step)") }
        step = exchange.authorize(TokenStore.Token(value: "one"), isNew: isNew)
        #expect(try Self.message(step).headers["Authorization"] == ["Bearer one"])
        step = try exchange.receive(status: 302, location: "/new", from: nil)
        step = try exchange.receive(status: 401, location: nil, from: nil)
        if !isNew {
            guard case .authenticate(Self.client, refused: let refused?) = step else {
                throw Unexpected(step: "\(step)")
            }
            #expect(refused.value == "one")
            step = exchange.authorize(TokenStore.Token(value: "two"), isNew: false)
            #expect(try Self.message(step).url == Self.url("/feed"))
            #expect(try Self.message(step).headers["Authorization"] == ["Bearer two"])
            step = try exchange.receive(status: 401, location: nil, from: nil)
        }
        _ = try Self.result(step)
    }

    /// A token stays where the origin of a redirect, which it did not go to, answers 401.
    @Test func anotherOriginRefusesNoToken() throws {
        var (exchange, step) = try Self.begin(Self.request(authentication: .oauth2(Self.client)))
        step = exchange.authorize(TokenStore.Token(value: "one"), isNew: false)
        step = try exchange.receive(status: 302, location: "https://b.test/", from: nil)
        #expect(try !Self.message(step).headers.contains(name: "Authorization"))
        step = try exchange.receive(status: 401, location: nil, from: nil)
        #expect(try Self.result(step).url.host == "b.test")
    }

    /// Answers each message with a redirect whose body nobody reads, and the last one with the feed.
    private final class RedirectingNetwork: Network {
        /// The bodies that are still held when the next message is sent.
        let held = Mutex<(last: Weak, count: Int)>((Weak(), 0))

        struct Weak {
            weak var body: Body?
        }

        final class Body: AsyncSequence, Sendable {
            struct AsyncIterator: AsyncIteratorProtocol {
                mutating func next() async throws -> ByteBuffer? { nil }
            }

            func makeAsyncIterator() -> AsyncIterator { AsyncIterator() }
        }

        func send(
            _ message: HTTPClientRequest, to: Origin, within: Duration
        ) async throws -> HTTPClientResponse {
            let body = Body()
            held.withLock { held in
                if held.last.body != nil { held.count += 1 }
                held.last.body = body
            }
            let isLast = message.url.hasSuffix("/3")
            return HTTPClientResponse(
                status: isLast ? .ok : .found,
                headers: ["Location": message.url.hasSuffix("/2") ? "/3" : message.url.hasSuffix("/1") ? "/2" : "/1"],
                body: .stream(body))
        }
    }

    /// The connection of a redirect is free before the next message is sent.
    @Test func anAnswerIsLetGoBeforeTheNextMessage() async throws {
        let network = RedirectingNetwork()
        let fetcher = HTTPFetcher(now: { Date() }, network: network)
        let exchange = try await fetcher.fetch(
            Self.request("GET", "http://127.0.0.1/feed"), ExchangeContext(), validators: Validators(), movedTo: nil)
        #expect(exchange.response.url == "http://127.0.0.1/3")
        #expect(network.held.withLock(\.count) == 0)
        try await fetcher.shutdown()
    }

    // MARK: - Messages without an answer

    /// What failed, whether bytes had left, and how often a GET and a POST are sent again.
    @Test(arguments: [
        (Resends.Failure.closedBeforeAnswer, true, Resends.limit, 0),
        (.closedBeforeAnswer, false, Resends.limit, Resends.limit), (.closedInPool, true, 0, 0),
        (.closedInPool, false, Resends.limit, Resends.limit), (.other, true, 0, 0), (.other, false, 0, 0),
    ])
    func aMessageIsSentAgain(failure: Resends.Failure, isSent: Bool, get: Int, post: Int) {
        for (method, count) in [("GET", get), ("POST", post)] {
            var resends = Resends(method: method)
            let allowed = (0...count).map { _ in resends.isAllowed(after: failure, isSent: isSent) }
            #expect(allowed == Array(repeating: true, count: count) + [false], "\(method)")
        }
    }
}
