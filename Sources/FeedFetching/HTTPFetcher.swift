import AsyncHTTPClient
package import FeedConfiguration
package import FeedModel
package import Foundation
import NIOCore
import NIOHTTP1

/// Fetches `http:` and `https:` URLs, with a connection pool for each transport that the sources declare.
package final class HTTPFetcher: Fetcher {
    let now: @Sendable () -> Date
    private let onAnswer: @Sendable (Int?) -> Void
    let hosts: HostGate?
    private let addresses: AddressGuard
    private let foundNames = FoundNames()
    /// The network; nil for that of the machine.
    private let network: (any Network)?
    let clients: HTTPClients
    package let tokens = TokenStore()
    private let refreshTokens: (any RefreshTokenStore)?
    private let correlation = RequestCorrelation()

    /// - Parameters:
    ///   - hosts: limits the requests to each host; nil for no limits.
    ///   - network: sends the messages; nil for the machine's network.
    ///   - refreshTokens: keeps the refresh tokens of logins; nil for requests without any.
    ///   - loop: the thread of the connections. On the caller's own, an exchange wakes no other thread.
    ///   - onAnswer: called for each sent request, with the status of the answer, or nil without one.
    package init(
        now: @escaping @Sendable () -> Date, hosts: HostGate? = nil, names: any NameLookup = SystemNames(),
        network: (any Network)? = nil, refreshTokens: (any RefreshTokenStore)? = nil,
        on loop: (any ConnectionLoop)? = nil,
        onAnswer: @escaping @Sendable (Int?) -> Void = { _ in }
    ) {
        self.now = now
        self.hosts = hosts
        addresses = AddressGuard(names: names)
        self.network = network
        self.refreshTokens = refreshTokens
        clients = HTTPClients(on: loop)
        self.onAnswer = onAnswer
    }

    /// Closes the connections. Call it once, when no request is in progress. Returns after three seconds at the latest.
    package func shutdown() async throws { try await clients.shutdown() }

    package func fetch(
        _ request: PreparedRequest, _ context: ExchangeContext, validators: Validators, movedTo: String?
    ) async throws -> Exchange {
        var exchange = HTTPExchange(request, validators: validators, movedTo: movedTo)
        let connections = try self.connections(request)
        var answer: Answer?
        var step = exchange.begin()
        while true {
            switch step {
            case .authenticate(let client, let refused):
                answer = nil
                if let refused { tokens.forget(refused, of: client) }
                let (token, isNew) = try await token(for: client, request, context)
                step = exchange.authorize(token, isNew: isNew)
            case .send(let message):
                // An unread body occupies its connection, which the next message may need.
                answer = nil
                try await context.permit?.move(to: message.origin, mayWait: context.mayWait, context.clock)
                let isProxied = request.transport.proxy != nil
                let provenance: AddressProvenance?
                do {
                    provenance = try await addresses.checked(
                        message.url, message.provenance, namedBy: message.namedBy, isProxied: isProxied)
                } catch let error as AddressGuard.Refusal {
                    throw FetchError(client: error, request: request, clock: context.clock)
                }
                let isRedirected = message.origin != request.origin
                let received = try await send(
                    HTTPClientRequest(message), to: message.url, message.origin, with: connections, for: request,
                    subject: isRedirected
                        ? "\(request.method) \(request.url), redirected to \(message.origin)" : nil,
                    context, provenance: provenance)
                step = try exchange.receive(
                    status: Int(received.response.status.code),
                    location: received.response.headers.first(name: "Location"), from: received.from)
                answer = received
            case .finish(let result):
                guard let answer else { preconditionFailure("an exchange ends with an answer") }
                return self.exchange(answer, to: request, result, known: validators.lastModified)
            }
        }
    }

    /// A response, and the address that sent it, or the URL's address if a proxy connects to it.
    private typealias Answer = (response: HTTPClientResponse, from: IPAddress?)

    private func token(for client: ClientCredentials, _ request: PreparedRequest, _ context: ExchangeContext)
        async throws -> (token: TokenStore.Token, isNew: Bool)
    {
        guard client.login != nil, let clock = context.clock else {
            return try await requestToken(for: client, request, context)
        }
        // The exchange of a refresh token has a time limit of its own, and may wait for that of another process.
        return try await clock.pausing { try await requestToken(for: client, request, context) }
    }

    private func requestToken(for client: ClientCredentials, _ request: PreparedRequest, _ context: ExchangeContext)
        async throws -> (token: TokenStore.Token, isNew: Bool)
    {
        let url = try TokenRequest(client: client).url()
        let origin = url.origin
        // Otherwise the token's request might wait for the reservation of this request.
        let endReservation: @Sendable () -> Void = { context.permit?.endReservation() }
        return try await tokens.token(for: client, at: origin, now: now, beforeWaiting: endReservation) {
            guard client.login != nil else {
                return try await issue(TokenRequest(client: client), url, request, context)
            }
            guard let refreshTokens else {
                throw FetchError(.status, "\(request.url): there is no store that keeps the refresh token")
            }
            return try await refreshTokens.exchange(
                of: client, within: request.timeout, beforeWaiting: endReservation
            ) { [self] refreshToken in
                tokens.hide([refreshToken], of: client)
                do {
                    let token = try await issue(
                        TokenRequest(client: client, refreshToken: refreshToken), url, request, context)
                    tokens.hide([token.nextRefreshToken].compactMap(\.self), of: client)
                    return token
                } catch let unusable as UnusableToken {
                    tokens.hide([unusable.nextRefreshToken], of: client)
                    throw unusable
                }
            }
        }
    }

    private func issue(_ tokenRequest: TokenRequest, _ url: URL, _ request: PreparedRequest, _ context: ExchangeContext)
        async throws -> TokenStore.Token
    {
        let origin = url.origin
        let connections = try self.connections(request)
        let subject = tokenRequest.subject
        do {
            let response = try await send(
                tokenRequest.message(), to: url, origin, with: connections, for: request, subject: subject, context,
                provenance: nil
            ).response
            return try await tokenRequest.token(from: response, at: origin, now: now())
        } catch let unusable as UnusableToken {
            throw tokenRequest.refreshToken == nil ? unusable.error : unusable
        } catch {
            if error is CancellationError { throw error }
            throw FetchError(client: error, request: request, subject: subject, clock: context.clock)
        }
    }

    /// - Parameters:
    ///   - subject: the server, for messages; nil for that of the request.
    ///   - provenance: the provenance of the address; nil if it may be any.
    /// - Returns: the response, and the address that sent it, or the URL's address if a proxy connects to it.
    private func send(
        _ message: HTTPClientRequest, to url: URL, _ origin: Origin, with connections: any Network,
        for request: PreparedRequest, subject: String?, _ context: ExchangeContext, provenance: AddressProvenance?
    ) async throws -> Answer {
        let clock = context.clock
        let isProxied = request.transport.proxy != nil
        var resends = Resends(method: message.method.rawValue)
        while true {
            try await context.waitToSend(to: origin, request, hosts, isAgain: resends.count > 0, now: now)
            clock?.isConnecting()
            let entry = correlation.add(for: clock, to: origin, provenance: isProxied ? nil : provenance)
            defer { correlation.remove(entry) }
            var message = message
            message.headers.replaceOrAdd(name: RequestCorrelation.header, value: String(entry.number))
            if case .s3(let access) = request.authentication {
                RequestSignature(access: access, time: now()).sign(message.method.rawValue, url, &message.headers)
            }
            var isAnswered = false
            do {
                let response = try await connections.send(
                    message, to: origin, within: request.timeout + .seconds(1))
                clock?.hasReceived(0)
                isAnswered = true
                onAnswer(Int(response.status.code))
                close(origin, after: response)
                guard isProxied else { return (response, entry.address) }
                return (response, try await addresses.addresses(of: url, isProxied: true).first)
            } catch {
                if !isAnswered { onAnswer(nil) }
                // Checked first, because the client throws its own error for a cancelled task.
                try Task.checkCancellation()
                guard resends.isAllowed(after: Resends.Failure(error), isSent: entry.isSent) else {
                    throw FetchError(client: error, request: request, subject: subject, clock: clock)
                }
            }
        }
    }

    /// Notes the pause that a busy server requests. All requests to it wait for its end.
    private func close(_ origin: Origin, after response: HTTPClientResponse) {
        let now = now()
        guard let wait = RequestedWait(response, of: origin, at: now), let end = wait.end else { return }
        hosts?.close(origin, for: .seconds(end.timeIntervalSince(now)))
    }

    /// - Parameter known: the Last-Modified that is stored with the request's rows.
    private func exchange(
        _ answer: Answer, to request: PreparedRequest, _ result: HTTPExchange.Result, known: String?
    ) -> Exchange {
        let response = answer.response
        let head = FeedResponse(
            requestedURL: request.url.template, url: result.url.absoluteString, status: Int(response.status.code),
            headers: response.headers.map { (name: $0.name, value: $0.value) }, fetchedAt: now(),
            validators: Validators(
                etag: Self.validator(response.headers.first(name: "ETag")),
                lastModified: Self.lastModified(response.headers, known: known)))
        var exchange = Exchange.http(head, response.body)
        exchange.movedTo = result.movedTo
        exchange.origin = result.origin
        exchange.from = answer.from
        return exchange
    }

    /// Returns the time of the last change if it is a strong validator: a document that changed in the second of the
    /// response may change again within it (RFC 9110, section 8.8.2.2).
    ///
    /// - Parameter known: the stored Last-Modified, which was strong when it was stored.
    private static func lastModified(_ headers: HTTPHeaders, known: String?) -> String? {
        let text = headers.first(name: "Last-Modified")
        if let known, text == known { return known }
        if let modified = text.flatMap(HTTPDate.parse), let date = headers.first(name: "Date").flatMap(HTTPDate.parse),
            date.timeIntervalSince(modified) < 1
        {
            return nil
        }
        return validator(text)
    }

    /// Returns the validator if it can be sent back: not empty, without lost bytes or control characters, and of at most 4,096
    /// bytes. Servers commonly accept 8,192 bytes of headers.
    private static func validator(_ value: String?) -> String? {
        // A condition of "*" holds for any representation (RFC 9110, section 13.1.2).
        guard let value, !value.isEmpty, value != "*", value.utf8.count <= 4_096,
            value.unicodeScalars.allSatisfy({ $0 == "\t" || (0x20...0xFF).contains($0.value) && $0.value != 0x7F })
        else { return nil }
        return value
    }

    /// Returns the network that sends a request's messages.
    private func connections(_ request: PreparedRequest) throws -> any Network {
        if let network { return network }
        do {
            let client = try clients.client(request.transport) {
                try request.transport.makeClient(Connections(correlation: correlation), on: clients.loop?.loops)
            }
            let transport = request.transport
            return ClientConnections(
                client: client, names: foundNames, connectTimeout: transport.connectTimeout, proxy: transport.proxy)
        } catch {
            throw FetchError(
                .connection,
                "\(request.url): the files of the request's 'tls' cannot be used: \(ErrorText.words(error))")
        }
    }
}

extension RequestedWait {
    /// The wait that a response requests; nil if its server is not busy.
    init?(_ response: HTTPClientResponse, of origin: Origin, at now: Date) {
        let status = Int(response.status.code)
        guard RetryAfter.statuses.contains(status) else { return nil }
        self.init(
            origin: origin, status: status,
            end: response.headers.first(name: "Retry-After").flatMap { RetryAfter.end(of: $0, at: now) })
    }
}

extension HTTPClientRequest {
    fileprivate init(_ message: HTTPExchange.Message) {
        self.init(url: message.url.absoluteString)
        method = HTTPMethod(rawValue: message.method)
        headers = message.headers
        if let text = message.body { body = .bytes(ByteBuffer(string: text)) }
    }
}

/// Decides whether a message without an answer is sent again at once, and counts these attempts.
///
/// It may be sent again if it reached no server, or if it is idempotent and was sent on a kept-alive connection (RFC
/// 9110, section 9.2.2; RFC 9112, section 9.3.1).
struct Resends {
    /// The reason why a message has no answer.
    enum Failure: CaseIterable {
        /// A kept-alive connection ended, or had bytes of another answer.
        case closedBeforeAnswer
        /// The pool returned a connection that was being closed.
        case closedInPool
        case other
    }

    /// The most attempts after closed connections: the number of connections in the pool.
    static let limit = Transport.pooledConnections

    private let isIdempotent: Bool
    private(set) var count = 0

    /// - Parameter method: the message's method.
    init(method: String) {
        isIdempotent = ["GET", "HEAD", "OPTIONS", "PUT", "DELETE"].contains(method)
    }

    /// Counts a failure.
    ///
    /// - Parameter isSent: true once bytes of the message have left.
    /// - Returns: true where the message is to be sent again.
    mutating func isAllowed(after failure: Failure, isSent: Bool) -> Bool {
        let limit =
            switch failure {
            case .closedBeforeAnswer: isIdempotent || !isSent ? Self.limit : 0
            case .closedInPool: isSent ? 0 : Self.limit
            case .other: 0
            }
        guard count < limit else { return false }
        count += 1
        return true
    }
}

extension Resends.Failure {
    init(_ error: any Error) {
        switch error {
        case AnswerError.closedBeforeAnswer, AnswerError.leftOver: self = .closedBeforeAnswer
        case ChannelError.ioOnClosedChannel: self = .closedInPool
        case let error as HTTPClientError where error == .remoteConnectionClosed: self = .closedInPool
        default: self = .other
        }
    }
}
