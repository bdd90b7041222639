package import FeedConfiguration
import FeedModel
import Foundation

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

    func begin(_ clients: Set<ClientCredentials>) { uses.withLock { $0.begin(clients) } }

    func end(_ clients: Set<ClientCredentials>) { forget(uses.withLock { $0.end(clients) }) }

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
