import AsyncHTTPClient
import FeedStore
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// `http:` and `https:` URLs, over one shared connection pool for each connect timeout that the sources use.
final class HTTPFetcher: Fetcher {
    static let userAgent = "Tributary/\(TributaryVersion.current) (+\(TributaryVersion.home))"
    /// Redirects followed for one request.
    static let redirectLimit = 5

    private let now: @Sendable () -> Date
    private let clients = Mutex<[Duration: HTTPClient]>([:])

    init(now: @escaping @Sendable () -> Date) {
        self.now = now
    }

    /// Closes the connections. Called once, when no request is under way.
    func shutdown() async throws {
        for client in clients.withLock({ Array($0.values) }) { try await client.shutdown() }
    }

    func fetch(_ request: RequestDeclaration, validators: Validators, movedTo: String?) async throws -> Exchange {
        var target = try HTTPTarget(request)
        // What moved for good is asked where it is; what may be sent there was decided when it moved.
        if let movedTo, let url = URL(string: movedTo) {
            let declared = target.origin
            target.url = url
            if target.origin != declared { target.dropSecrets() }
        }
        var headers = target.headers(validators)
        var isPermanent = true
        let client = client(connectTimeout: request.connectTimeout)
        for _ in 0...Self.redirectLimit {
            var message = HTTPClientRequest(url: target.url.absoluteString)
            message.method = HTTPMethod(rawValue: target.method)
            message.headers = headers
            if let body = target.body { message.body = .bytes(ByteBuffer(string: body)) }
            let response = try await send(message, with: client, for: request)
            guard let redirect = try target.redirected(by: response, request: request.url.template) else {
                var exchange = exchange(response, to: request, from: target)
                let declared = try HTTPTarget(request).url
                let isMoved = isPermanent && target.url != declared
                exchange.movedTo = isMoved ? target.url.absoluteString : nil
                exchange.origin = target.origin
                return exchange
            }
            isPermanent = isPermanent && [301, 308].contains(Int(response.status.code))
            if redirect.origin != target.origin {
                guard redirect.body == nil else {
                    throw FetchError(
                        .redirect, "\(request.url) redirects its \(request.method) to another origin, which is refused")
                }
                headers = HTTPTarget.withoutSecrets(headers)
            }
            target = redirect
        }
        throw FetchError(.redirect, "\(request.url) redirects more than \(Self.redirectLimit) times")
    }

    private func send(
        _ message: HTTPClientRequest, with client: HTTPClient, for request: RequestDeclaration
    ) async throws -> HTTPClientResponse {
        do {
            return try await client.execute(message, deadline: .now() + TimeAmount(request.timeout) + .seconds(1))
        } catch {
            throw FetchError(client: error, request: request)
        }
    }

    private func exchange(_ response: HTTPClientResponse, to request: RequestDeclaration, from target: HTTPTarget)
        -> Exchange
    {
        let headers = response.headers.map { (name: $0.name, value: $0.value) }
        let head = FeedResponse(
            requestedURL: request.url.template, url: target.url.absoluteString, status: Int(response.status.code),
            headers: headers, fetchedAt: now(),
            validators: Validators(
                etag: response.headers.first(name: "ETag"), lastModified: response.headers.first(name: "Last-Modified"))
        )
        return .http(head, response.body)
    }

    private func client(connectTimeout: Duration) -> HTTPClient {
        clients.withLock { clients in
            if let client = clients[connectTimeout] { return client }
            var configuration = HTTPClient.Configuration()
            configuration.timeout.connect = TimeAmount(connectTimeout)
            configuration.redirectConfiguration = .disallow
            configuration.decompression = .disabled
            configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
            let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
            clients[connectTimeout] = client
            return client
        }
    }
}

extension FetchError {
    /// What the HTTP client threw, for the person who must act.
    init(client error: any Error, request: RequestDeclaration) {
        let subject = "\(request.method) \(request.url)"
        switch error {
        case let error as FetchError:
            self = error
        case let error as HTTPClientError where error == .connectTimeout:
            self.init(.timeout, "\(subject): no connection within \(request.connectTimeout)")
        case let error as HTTPClientError where error == .deadlineExceeded || error == .readTimeout:
            self.init(.timeout, "\(subject): no response within \(request.timeout)")
        case let error as HTTPClientError where error == .remoteConnectionClosed:
            self.init(.truncated, "\(subject): the server closed the connection before its response was complete")
        case is HTTPParserError:
            self.init(.truncated, "\(subject): the response is cut short or is not HTTP (\(error))")
        case let error as NIOConnectionError:
            let why =
                error.connectionErrors.first.map { "\($0.error)" } ?? error.dnsAError.map { "\($0)" } ?? "unknown host"
            self.init(.connection, "\(subject): cannot connect to \(error.host):\(error.port): \(why)")
        case let error as IOError:
            self.init(.connection, "\(subject): the connection broke: \(error.description)")
        default:
            self.init(.connection, "\(subject): \(error)")
        }
    }
}

extension TimeAmount {
    fileprivate init(_ duration: Duration) {
        self = .nanoseconds(
            duration.components.seconds * 1_000_000_000 + duration.components.attoseconds / 1_000_000_000)
    }
}
