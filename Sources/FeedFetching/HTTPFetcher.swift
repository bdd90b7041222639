import AsyncHTTPClient
package import FeedDeclarations
package import FeedModel
package import Foundation
import NIOCore
import NIOHTTP1

/// Fetches `http:` and `https:` URLs, with a connection pool for each transport that the sources declare.
package final class HTTPFetcher: Fetcher {
    static let userAgent = "Tributary/\(TributaryVersion.version) (+\(TributaryVersion.home))"
    /// The most redirects followed for one request.
    static let redirectLimit = 5

    private let now: @Sendable () -> Date
    private let onAnswer: @Sendable (Int?) -> Void
    /// How often hosts are asked; nil where nothing is declared.
    private let pace: HostPace?
    private let addresses: AddressGuard
    let clients = HTTPClients()
    package let tokens = TokenStore()
    private let tickets = SendTickets()
    /// The most times a request is sent again because its connection was of no use. There can be no more such connections
    /// than the pool keeps.
    private static let resendLimit = Transport.pooledConnections
    /// The most times a request is sent again that a server refuses without a word on how to go on.
    private static let refusalLimit = 8

    /// - Parameter onAnswer: called for each request that is sent, with the status of the answer; with nil where none comes.
    package init(
        now: @escaping @Sendable () -> Date, pace: HostPace? = nil, names: any NameLookup = SystemNames(),
        onAnswer: @escaping @Sendable (Int?) -> Void = { _ in }
    ) {
        self.now = now
        self.pace = pace
        addresses = AddressGuard(names: names)
        self.onAnswer = onAnswer
    }

    /// Closes the connections. Called once, when no request is under way. Returns after three seconds at the latest.
    package func shutdown() async throws { try await clients.shutdown() }

    package func fetch(_ request: RequestDeclaration, validators: Validators, movedTo: String?) async throws -> Exchange
    {
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
            // The token was revoked before it expired: another one is requested.
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
                let message = tokenRequest.message()
                let response = try await send(message, with: connections, for: request, led: nil).response
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
        var lead = request.lead
        /// The address whose host has named the target, while nobody needs to know what address it has.
        var namedBy: URL?
        let isProxied = request.transport.proxy != nil
        // A request that has moved for good goes to its new address. If the origin differs, no secrets go there, and a
        // request with a body keeps its declared address.
        if let movedTo, let address = try? WebAddress(movedTo) {
            target.url = address.url
            if target.origin != declared.origin {
                if target.body == nil { target.dropSecrets() } else { target = declared }
            }
            if target.url.hostBeforePort != declared.url.hostBeforePort {
                lead = AddressLead(
                    namer: "the permanent redirect of \(request.url)", origin: declared.origin, from: nil)
                namedBy = declared.url
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
            try await ExchangePlace.current?.move(to: target.origin, ExchangeProgress.current)
            if request.allowsPrivate || lead?.admitsAll(of: target.url.host) ?? false { lead = nil }
            let response: HTTPClientResponse
            let from: IPAddress?
            do {
                lead = try await addresses.checked(target.url, lead, namedBy: namedBy, isProxied: isProxied)
                namedBy = nil
                (response, from) = try await send(message, with: client, for: request, led: lead)
            } catch let error as AddressGuard.Refusal {
                throw FetchError(client: error, request: request)
            }
            guard let redirect = try target.redirected(by: response, request: request.url.template) else {
                var exchange = exchange(response, to: request, from: target)
                // A POST that has become a GET is not the same request.
                let isMoved = isPermanent && target.url != declared.url && target.method == declared.method
                exchange.movedTo = isMoved ? target.url.absoluteString : nil
                exchange.origin = target.origin
                exchange.from = from
                return exchange
            }
            isPermanent = isPermanent && [301, 308].contains(Int(response.status.code))
            if redirect.origin != target.origin {
                guard redirect.body == nil else {
                    throw FetchError(
                        .redirect, "\(request.url) redirects its \(request.method) to another origin, which is refused")
                }
                headers = headers.leavingOrigin()
            }
            if redirect.method != target.method { headers = headers.withoutBody() }
            lead = AddressLead(namer: "a redirect of \(target.origin)", origin: target.origin, from: from)
            target = redirect
        }
        throw FetchError(.redirect, "\(request.url) redirects more than \(Self.redirectLimit) times")
    }

    /// - Parameter lead: what led to the address; nil where it may be any.
    /// - Returns: the response, and the address that sent it, or that the URL has where a proxy connects to it.
    private func send(
        _ message: HTTPClientRequest, with client: HTTPClient, for request: RequestDeclaration, led lead: AddressLead?
    ) async throws -> (response: HTTPClientResponse, from: IPAddress?) {
        let progress = ExchangeProgress.current
        let url = URL(string: message.url)
        let isProxied = request.transport.proxy != nil
        if let pace, let url { try await pace.wait(at: url.origin, progress) }
        var resends = 0
        while true {
            progress?.isConnecting()
            let ticket = tickets.issue(for: progress, to: url?.origin ?? "", led: isProxied ? nil : lead)
            defer { tickets.drop(ticket) }
            var message = message
            message.headers.replaceOrAdd(name: SendTickets.header, value: String(ticket.number))
            var isAnswered = false
            do {
                let deadline = NIODeadline.now() + TimeAmount(request.timeout) + .seconds(1)
                let response = try await client.execute(message, deadline: deadline)
                progress?.hasReceived(0)
                isAnswered = true
                onAnswer(Int(response.status.code))
                guard isProxied, let url else { return (response, ticket.address) }
                return (response, try await addresses.addresses(of: url, isProxied: true).first)
            } catch {
                if !isAnswered { onAnswer(nil) }
                // Checked first: for a cancelled run, the client throws an error of its own.
                try Task.checkCancellation()
                guard resends < Self.resends(after: error, message.method, isSent: ticket.isSent) else {
                    throw FetchError(client: error, request: request, progress: progress)
                }
                resends += 1
            }
        }
    }

    /// Returns how many times at most a request may be sent again at once.
    ///
    /// It has reached no server, or the server says that it has not processed it (RFC 9113, sections 6.8 and 8.7), or it is
    /// idempotent and got no answer on a kept-alive connection (RFC 9110, section 9.2.2; RFC 9112, section 9.3.1).
    private static func resends(after error: any Error, _ method: HTTPMethod, isSent: Bool) -> Int {
        let isIdempotent = [.GET, .HEAD, .OPTIONS, .PUT, .DELETE].contains(method)
        switch error {
        case AnswerError.refused: return refusalLimit
        case AnswerError.unprocessed: return resendLimit
        case AnswerError.closedBeforeAnswer, AnswerError.leftOver: return isIdempotent || !isSent ? resendLimit : 0
        // The pool used a connection that was being closed. Over HTTP/2 the client calls that cancelled.
        case ChannelError.ioOnClosedChannel: return isSent ? 0 : resendLimit
        case let error as HTTPClientError where [.remoteConnectionClosed, .cancelled].contains(error):
            return isSent ? 0 : resendLimit
        default: return 0
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
                etag: Self.validator(response.headers.first(name: "ETag")),
                lastModified: Self.lastModified(response.headers)))
        return .http(head, response.body)
    }

    /// Returns the time of the last change if it tells this version from the next one: a document that changed within the
    /// second of the answer may change once more in it (RFC 9110, section 8.8.2.2).
    private static func lastModified(_ headers: HTTPHeaders) -> String? {
        let text = headers.first(name: "Last-Modified")
        if let modified = text.flatMap(HTTPDate.parse), let date = headers.first(name: "Date").flatMap(HTTPDate.parse),
            date.timeIntervalSince(modified) < 1
        {
            return nil
        }
        return validator(text)
    }

    /// Returns the validator if it can be sent back. One that has lost bytes, has a control character, or exceeds 4,096
    /// bytes cannot: servers commonly take 8,192 bytes of headers in all and would refuse the request.
    private static func validator(_ value: String?) -> String? {
        guard let value, value.utf8.count <= 4_096,
            value.unicodeScalars.allSatisfy({ $0 == "\t" || (0x20...0xFF).contains($0.value) && $0.value != 0x7F })
        else { return nil }
        return value
    }

    private func client(_ request: RequestDeclaration) throws -> HTTPClient {
        do {
            return try clients.client(request.transport) {
                try request.transport.makeClient(Connections(tickets: tickets))
            }
        } catch {
            throw FetchError(
                .connection,
                "\(request.url): the files of the request's 'tls' cannot be used: \(ErrorText.words(error))")
        }
    }
}
