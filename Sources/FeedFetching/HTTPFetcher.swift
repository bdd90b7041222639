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
    private let hosts: HostGate?
    private let addresses: AddressGuard
    /// nil for the machine's own.
    private let network: (any Network)?
    let clients = HTTPClients()
    package let tokens = TokenStore()
    private let tickets = SendTickets()
    /// The most times a request is sent again because its connection was of no use. There can be no more such connections
    /// than the pool keeps.
    private static let resendLimit = Transport.pooledConnections
    /// The most times a request is sent again that a server refuses without a word on how to go on.
    private static let refusalLimit = 8

    /// - Parameters:
    ///   - hosts: limits the requests to each host; nil where nothing does.
    ///   - network: sends the messages; nil for the machine's own.
    ///   - onAnswer: called for each request that is sent, with the status of the answer; with nil where none comes.
    package init(
        now: @escaping @Sendable () -> Date, hosts: HostGate? = nil, names: any NameLookup = SystemNames(),
        network: (any Network)? = nil, onAnswer: @escaping @Sendable (Int?) -> Void = { _ in }
    ) {
        self.now = now
        self.hosts = hosts
        addresses = AddressGuard(names: names)
        self.network = network
        self.onAnswer = onAnswer
    }

    /// Closes the connections. Called once, when no request is under way. Returns after three seconds at the latest.
    package func shutdown() async throws { try await clients.shutdown() }

    package func fetch(
        _ request: RequestDeclaration, _ context: ExchangeContext, validators: Validators, movedTo: String?
    ) async throws -> Exchange {
        switch request.authentication {
        case nil:
            return try await fetch(request, context, validators, movedTo, authorization: nil)
        case .basic(let user, let password):
            let authorization = HTTPTarget.basic(user.value, password.value)
            return try await fetch(request, context, validators, movedTo, authorization: authorization)
        case .bearer(let token):
            return try await fetch(request, context, validators, movedTo, authorization: "Bearer \(token.value)")
        case .oauth2(let client):
            let (token, isNew) = try await token(for: client, request, context)
            let exchange = try await fetch(
                request, context, validators, movedTo, authorization: "Bearer \(token.value)")
            guard exchange.response.status == 401, !isNew else { return exchange }
            // The token was revoked before it expired: another one is requested.
            tokens.forget(token, of: client)
            let new = try await self.token(for: client, request, context).token
            return try await fetch(request, context, validators, movedTo, authorization: "Bearer \(new.value)")
        }
    }

    private func token(for client: ClientCredentials, _ request: RequestDeclaration, _ context: ExchangeContext)
        async throws -> (token: TokenStore.Token, isNew: Bool)
    {
        // Otherwise the one that asks for the token may wait for the request that is reserved for this one.
        try await tokens.token(for: client, now: now, beforeWaiting: { context.permit?.endReservation() }) {
            let tokenRequest = TokenRequest(client: client)
            let connections = try self.connections(request)
            do {
                let message = tokenRequest.message()
                let response = try await send(message, with: connections, for: request, context, provenance: nil)
                    .response
                return try await tokenRequest.token(from: response, now: now())
            } catch {
                if error is CancellationError { throw error }
                throw FetchError(client: error, request: request, progress: context.progress)
            }
        }
    }

    private func fetch(
        _ request: RequestDeclaration, _ context: ExchangeContext, _ validators: Validators, _ movedTo: String?,
        authorization: String?
    ) async throws -> Exchange {
        let declared = try HTTPTarget(request)
        var target = declared
        var provenance = request.provenance
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
                provenance = AddressProvenance(
                    namer: "the permanent redirect of \(request.url)", origin: declared.origin, from: nil)
                namedBy = declared.url
            }
        }
        var headers = target.headers(validators)
        if let authorization, target.origin == declared.origin {
            headers.replaceOrAdd(name: "Authorization", value: authorization)
        }
        var isPermanent = true
        let connections = try self.connections(request)
        for _ in 0...Self.redirectLimit {
            var message = HTTPClientRequest(url: target.url.absoluteString)
            message.method = HTTPMethod(rawValue: target.method)
            message.headers = headers
            if let body = target.body { message.body = .bytes(ByteBuffer(string: body)) }
            try await context.permit?.move(to: target.origin, mayWait: context.mayWait, context.progress)
            if request.allowsPrivate || provenance?.admitsAll(of: target.url.host) ?? false { provenance = nil }
            let response: HTTPClientResponse
            let from: IPAddress?
            do {
                provenance = try await addresses.checked(target.url, provenance, namedBy: namedBy, isProxied: isProxied)
                namedBy = nil
                (response, from) = try await send(
                    message, with: connections, for: request, context, provenance: provenance)
            } catch let error as AddressGuard.Refusal {
                throw FetchError(client: error, request: request, progress: context.progress)
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
            provenance = AddressProvenance(namer: "a redirect of \(target.origin)", origin: target.origin, from: from)
            target = redirect
        }
        throw FetchError(.redirect, "\(request.url) redirects more than \(Self.redirectLimit) times")
    }

    /// - Parameter provenance: who named the address; nil where it may be any.
    /// - Returns: the response, and the address that sent it, or that the URL has where a proxy connects to it.
    private func send(
        _ message: HTTPClientRequest, with connections: any Network, for request: RequestDeclaration,
        _ context: ExchangeContext, provenance: AddressProvenance?
    ) async throws -> (response: HTTPClientResponse, from: IPAddress?) {
        let progress = context.progress
        let url = URL(string: message.url)
        let isProxied = request.transport.proxy != nil
        if let origin = url?.origin {
            if let permit = context.permit {
                try await permit.waitToSend(to: origin, progress)
            } else {
                try await hosts?.waitToSend(to: origin, nil, progress)
            }
        }
        var resends = 0
        while true {
            progress?.isConnecting()
            let ticket = tickets.issue(for: progress, to: url?.origin ?? "", provenance: isProxied ? nil : provenance)
            defer { tickets.drop(ticket) }
            var message = message
            message.headers.replaceOrAdd(name: SendTickets.header, value: String(ticket.number))
            var isAnswered = false
            do {
                let response = try await connections.send(message, within: request.timeout + .seconds(1))
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

    /// Returns what sends a request's messages.
    private func connections(_ request: RequestDeclaration) throws -> any Network {
        if let network { return network }
        do {
            let client = try clients.client(request.transport) {
                try request.transport.makeClient(Connections(tickets: tickets))
            }
            return ClientConnections(client: client)
        } catch {
            throw FetchError(
                .connection,
                "\(request.url): the files of the request's 'tls' cannot be used: \(ErrorText.words(error))")
        }
    }
}
