import AsyncHTTPClient
package import FeedConfiguration
import FeedModel
import Foundation
import NIOCore
import NIOHTTP1

/// The issued tokens, each until it expires. A client requests at most one token at a time.
package final class TokenStore: Sendable {
    package struct Token: Sendable {
        var value: String
        /// The token's expiry; nil if the server gave none. The token then lasts until a server refuses it.
        var expires: Date?
        /// The refresh token that replaces the one that was sent; nil if that stays.
        package var nextRefreshToken: String?
    }

    /// A token is not used in the last seconds before its expiry.
    private static let margin: TimeInterval = 30

    private let tokens = Mutex<[ClientCredentials: Token]>([:])
    /// A gate for each client, so that one exchange at a time requests its token.
    private let gates = Mutex<[ClientCredentials: HostGate]>([:])
    /// The last tokens of each client, including the current ones. Tokens stay secret after their use.
    private let issued = Mutex<(byClient: [ClientCredentials: [String]], redactor: Redactor)>(([:], Redactor()))
    private static let remembered = 8
    private let uses = Mutex(UseCounts<ClientCredentials>())

    /// The number of clients whose tokens are known.
    var count: Int { issued.withLock { $0.byClient.count } }

    /// The redactor that removes the tokens from texts.
    package var redactor: Redactor { issued.withLock { $0.redactor } }

    /// - Parameters:
    ///   - origin: the origin of the client's token server.
    ///   - beforeWaiting: called if another exchange is requesting the client's token.
    ///   - issue: requests a token.
    /// - Returns: the token, and whether it has just been issued.
    func token(
        for client: ClientCredentials, at origin: Origin, now: @Sendable () -> Date, beforeWaiting: () -> Void,
        issue: () async throws -> Token
    ) async throws -> (token: Token, isNew: Bool) {
        let gate = gates.withLock { gates in
            let gate = gates[client] ?? HostGate(limit: 1)
            gates[client] = gate
            return gate
        }
        let permit: HostPermit
        if let free = gate.permitIfFree(at: origin) {
            permit = free
        } else {
            beforeWaiting()
            permit = try await gate.permit(at: origin)
        }
        defer { permit.release() }
        if let known = tokens.withLock({ $0[client] }), known.expires.map({ $0 > now() }) ?? true {
            return (known, false)
        }
        var token = try await issue()
        token.expires = token.expires?.addingTimeInterval(-Self.margin)
        tokens.withLock { $0[client] = token }
        hide([token.value], of: client)
        return (token, true)
    }

    /// Keeps tokens of a client out of texts.
    func hide(_ secrets: [String], of client: ClientCredentials) {
        issued.withLock { issued in
            let known = (issued.byClient[client] ?? []).filter { !secrets.contains($0) }
            issued.byClient[client] = (known + secrets).suffix(Self.remembered)
            issued.redactor = Redactor(secrets: issued.byClient.values.joined())
        }
    }

    /// Removes a refused token, unless it has been replaced.
    func forget(_ token: Token, of client: ClientCredentials) {
        tokens.withLock { if $0[client]?.value == token.value { $0[client] = nil } }
    }

    // MARK: - Clients of former configurations

    func begin(_ client: ClientCredentials) { uses.withLock { $0.begin(client) } }

    func end(_ client: ClientCredentials) { if uses.withLock({ $0.end(client) }) { forget([client]) } }

    func declare(_ clients: Set<ClientCredentials>) {
        let known = issued.withLock { Array($0.byClient.keys) }
        forget(uses.withLock { $0.declare(clients, known: known) })
    }

    /// Removes the tokens of unused clients.
    private func forget(_ clients: [ClientCredentials]) {
        guard !clients.isEmpty else { return }
        tokens.withLock { tokens in for client in clients { tokens[client] = nil } }
        gates.withLock { gates in for client in clients { gates[client] = nil } }
        issued.withLock { issued in
            for client in clients { issued.byClient[client] = nil }
            issued.redactor = Redactor(secrets: issued.byClient.values.joined())
        }
    }
}

/// Keeps the newest refresh token of each login, for every process that shares a store.
package protocol RefreshTokenStore: Sendable {
    /// Exchanges the newest refresh token of a client's login for an access token. The exchanges of one login follow one
    /// another, in all processes. The next refresh token is durably stored when this returns.
    ///
    /// - Parameters:
    ///   - limit: the time limit of the exchange itself.
    ///   - beforeWaiting: called if another exchange is in progress.
    ///   - exchange: sends a refresh token to the token server.
    /// - Throws: what the exchange throws; ``FetchError`` if the kept token cannot be read; the errors of the store;
    ///   `CancellationError`.
    func exchange(
        of client: ClientCredentials, within limit: Duration, beforeWaiting: @escaping @Sendable () -> Void,
        by exchange: @escaping @Sendable (_ refreshToken: String) async throws -> TokenStore.Token
    ) async throws -> TokenStore.Token
}

/// A request for an access token (RFC 6749, sections 4.4.2, 5 and 6).
struct TokenRequest {
    let client: ClientCredentials
    /// The refresh token of the client's login; nil for the client-credentials grant.
    var refreshToken: String?

    private static let sizeLimit = 64 << 10
    private static let longestLife: TimeInterval = 365 * 86_400

    /// The server, for messages.
    var subject: String { "the token server \(client.tokenURL)" }

    private struct Answer: Decodable {
        var access_token: String?
        var token_type: String?
        var expires_in: Seconds?
        var refresh_token: String?
        var error: String?
        var error_description: String?
    }

    /// Some servers write a number as a string.
    private struct Seconds: Decodable {
        var value: Double?

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Double.self) {
                value = number
            } else {
                value = (try? container.decode(String.self)).flatMap { Double($0) }
            }
        }
    }

    /// - Throws: ``FetchError`` if the declared address is invalid.
    func url() throws(FetchError) -> URL {
        do {
            return try WebAddress(client.tokenURL.value).url
        } catch {
            throw FetchError(.address, "\(client.tokenURL) cannot be used: \(error)")
        }
    }

    func message() -> HTTPClientRequest {
        var fields = client.parameters.mapValues(\.value)
        fields["grant_type"] = refreshToken == nil ? "client_credentials" : "refresh_token"
        fields["refresh_token"] = refreshToken
        fields["scope"] = client.scope?.value
        var message = HTTPClientRequest(url: client.tokenURL.value)
        message.method = .POST
        switch client.place {
        case .header:
            // Name and secret are form-encoded before they are joined (section 2.3.1).
            message.headers.add(
                name: "Authorization",
                value: HTTPTarget.basic(
                    client.clientID.value.percentEncoded, client.clientSecret.value.percentEncoded))
        case .body:
            fields["client_id"] = client.clientID.value
            // A client without a secret sends none (section 2.3.1).
            fields["client_secret"] = client.clientSecret.value.isEmpty ? nil : client.clientSecret.value
        }
        message.headers.add(name: "User-Agent", value: PreparedRequest.userAgent)
        message.headers.add(name: "Accept", value: "application/json")
        message.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
        message.body = .bytes(ByteBuffer(string: PreparedRequest.form(fields)))
        return message
    }

    /// - Throws: ``FetchError`` if the server issues no token; ``UnusableToken``.
    func token(from response: HTTPClientResponse, at origin: Origin, now: Date) async throws -> TokenStore.Token {
        do {
            return try await token(from: response, now: now)
        } catch var error as FetchError {
            error.wait = RequestedWait(response, of: origin, at: now)
            throw error
        }
    }

    private func token(from response: HTTPClientResponse, now: Date) async throws -> TokenStore.Token {
        let body: ByteBuffer
        do {
            body = try await response.body.collect(upTo: Self.sizeLimit)
        } catch is NIOTooManyBytesError {
            throw FetchError(.tooLarge, "\(subject) answered with more than \(ByteSize.text(Self.sizeLimit))")
        }
        let status = Int(response.status.code)
        let answer = try? JSONDecoder().decode(Answer.self, from: Data(body.readableBytesView))
        if let error = answer?.error {
            let description = answer?.error_description.map { " (\($0))" } ?? ""
            if error == "invalid_grant", let login = client.login {
                throw FetchError(
                    .status, "\(subject) refused the refresh token: \(error)\(description); \(login.renewal)")
            }
            if RetryAfter.statuses.contains(status) {
                throw FetchError(
                    .status, "\(subject) answered \(status): \(error)\(description); it is asked again later")
            }
            throw FetchError(
                .status,
                "\(subject) refused the client: \(error)\(description); check the request's 'oauth2'")
        }
        let next = answer?.refresh_token.flatMap { $0.isEmpty ? nil : $0 }
        do {
            return try token(from: answer, status: status, next: next, now: now)
        } catch {
            throw next.map { UnusableToken(error: error, nextRefreshToken: $0) } ?? error
        }
    }

    private func token(
        from answer: Answer?, status: Int, next: String?, now: Date
    ) throws(FetchError) -> TokenStore.Token {
        guard status == 200 else {
            throw FetchError(
                .status, "\(subject) answered \(HTTPReason.text(status)), where 200 was expected")
        }
        guard let answer, let value = answer.access_token, !value.isEmpty else {
            throw FetchError(.decoding, "\(subject) answered without an 'access_token' in JSON")
        }
        guard value.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw FetchError(.decoding, "\(subject) issued a token with characters that no header can hold")
        }
        guard answer.token_type.map({ $0.lowercased() == "bearer" }) ?? true else {
            throw FetchError(.decoding, "\(subject) issued a token that is not of the type Bearer")
        }
        return TokenStore.Token(
            value: value,
            // An infinite lifetime, or one of more than a year, becomes a year.
            expires: answer.expires_in?.value.map { seconds in
                now + (seconds.isFinite ? min(max(seconds, 0), Self.longestLife) : Self.longestLife)
            }, nextRefreshToken: next)
    }
}

/// The error of an answer with a token that cannot be used, and with the refresh token that takes the place of the sent one.
package struct UnusableToken: Error {
    package let error: FetchError
    package let nextRefreshToken: String
}
