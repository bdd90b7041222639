import AsyncHTTPClient
import FeedStore
import Foundation
import NIOCore
import NIOHTTP1
import Synchronization

/// `http:` and `https:` URLs, over one connection pool for each way of connecting that the sources declare.
final class HTTPFetcher: Fetcher {
    static let userAgent = "Tributary/\(TributaryVersion.current) (+\(TributaryVersion.home))"
    /// Redirects followed for one request.
    static let redirectLimit = 5

    private let now: @Sendable () -> Date
    private let clients = Mutex<[Transport: HTTPClient]>([:])
    private let tokens = TokenStore()

    init(now: @escaping @Sendable () -> Date) {
        self.now = now
    }

    /// Closes the connections. Called once, when no request is under way.
    func shutdown() async throws {
        for client in clients.withLock({ Array($0.values) }) { try await client.shutdown() }
    }

    func fetch(_ request: RequestDeclaration, validators: Validators, movedTo: String?) async throws -> Exchange {
        switch request.authentication {
        case nil:
            return try await fetch(request, validators, movedTo, authorization: nil)
        case .basic(let user, let password):
            let authorization = HTTPTarget.basic(user.value, password.value)
            return try await fetch(request, validators, movedTo, authorization: authorization)
        case .bearer(let token):
            return try await fetch(request, validators, movedTo, authorization: "Bearer \(token.value)")
        case .oauth2(let client):
            let (token, isNew) = try await token(for: client, request)
            let exchange = try await fetch(request, validators, movedTo, authorization: "Bearer \(token.value)")
            guard exchange.response.status == 401, !isNew else { return exchange }
            // Revoked before its time: one more is asked for.
            tokens.forget(token, of: client)
            let new = try await self.token(for: client, request).token
            return try await fetch(request, validators, movedTo, authorization: "Bearer \(new.value)")
        }
    }

    private func token(for client: ClientCredentials, _ request: RequestDeclaration) async throws
        -> (token: TokenStore.Token, isNew: Bool)
    {
        try await tokens.token(for: client, now: now) {
            let tokenRequest = TokenRequest(client: client)
            let connections = try self.client(request)
            do {
                let response = try await send(tokenRequest.message(), with: connections, for: request)
                return try await tokenRequest.token(from: response, now: now())
            } catch {
                if error is CancellationError { throw error }
                throw FetchError(client: error, request: request)
            }
        }
    }

    private func fetch(
        _ request: RequestDeclaration, _ validators: Validators, _ movedTo: String?, authorization: String?
    ) async throws -> Exchange {
        let declared = try HTTPTarget(request)
        var target = declared
        // What moved for good is asked where it is; what may be sent there was decided when it moved.
        if let movedTo, let url = URL(string: movedTo) {
            target.url = url
            if target.origin != declared.origin {
                if target.body == nil { target.dropSecrets() } else { target = declared }
            }
        }
        var headers = target.headers(validators)
        if let authorization, target.origin == declared.origin {
            headers.replaceOrAdd(name: "Authorization", value: authorization)
        }
        var isPermanent = true
        let client = try client(request)
        for _ in 0...Self.redirectLimit {
            var message = HTTPClientRequest(url: target.url.absoluteString)
            message.method = HTTPMethod(rawValue: target.method)
            message.headers = headers
            if let body = target.body { message.body = .bytes(ByteBuffer(string: body)) }
            let response = try await send(message, with: client, for: request)
            guard let redirect = try target.redirected(by: response, request: request.url.template) else {
                var exchange = exchange(response, to: request, from: target)
                // A POST that has become a GET is not the same request.
                let isMoved = isPermanent && target.url != declared.url && target.method == declared.method
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

    private func client(_ request: RequestDeclaration) throws -> HTTPClient {
        try clients.withLock { clients in
            if let client = clients[request.transport] { return client }
            do {
                let client = try request.transport.makeClient()
                clients[request.transport] = client
                return client
            } catch {
                throw FetchError(
                    .connection, "\(request.url): the files of the request's 'tls' cannot be used: \(error)")
            }
        }
    }
}
