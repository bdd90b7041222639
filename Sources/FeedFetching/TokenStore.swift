package import FeedDeclarations
import Foundation
import Locking

/// The issued tokens, each until it expires. A client requests at most one token at a time.
package final class TokenStore: Sendable {
    struct Token: Sendable {
        var value: String
        /// The end of the token's life; nil if the server gave none. It then lasts until it is refused.
        var expires: Date?
    }

    /// The seconds before its expiry from which a token is no longer used.
    private static let margin: TimeInterval = 30

    private let tokens = Mutex<[ClientCredentials: Token]>([:])
    /// For each client, what lets one exchange at a time ask for its token.
    private let gates = Mutex<[ClientCredentials: HostGate]>([:])
    /// The last tokens of each client, including the current one. They stay secret after their use.
    private let issued = Mutex<(byClient: [ClientCredentials: [String]], redactor: Redactor)>(([:], Redactor()))
    private static let remembered = 4
    private let uses = Mutex(UseCounts<ClientCredentials>())

    /// The number of clients whose tokens are known.
    var count: Int { issued.withLock { $0.byClient.count } }

    /// The redactor that removes the tokens from texts.
    package var redactor: Redactor { issued.withLock { $0.redactor } }

    /// - Parameters:
    ///   - origin: that of the client's token server.
    ///   - beforeWaiting: called where another exchange is asking for the client's token.
    ///   - issue: asks for a token.
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
        issued.withLock { issued in
            issued.byClient[client] = (issued.byClient[client] ?? []).suffix(Self.remembered - 1) + [token.value]
            issued.redactor = Redactor(secrets: issued.byClient.values.joined())
        }
        return (token, true)
    }

    /// Forgets a token that was refused, unless another has taken its place.
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

    /// Forgets the tokens of clients that nobody needs any more.
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
