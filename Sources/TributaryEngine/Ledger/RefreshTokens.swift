import FeedConfiguration
import FeedFetching
import FeedModel
import FeedParsing
import FeedStores
import Foundation

/// The refresh tokens of logins, encrypted in the store.
///
/// A token server may take each refresh token once. Therefore the next one is stored in a transaction of its own, before
/// the access token that came with it is used: a run that is discarded loses none, and neither does a plan. One exchange of
/// a login is in progress at a time, under a lease in the login's row.
final class RefreshTokens: RefreshTokenStore {
    /// The time that an exchange has to end after its run was cancelled. A token server may be issuing the next refresh
    /// token, which would be lost.
    private static let grace = Duration.seconds(1)
    /// The time by which a lease outlasts its exchange.
    private static let margin = Duration.seconds(30)
    private static let longestPause = Duration.seconds(8)

    /// The refresh token of a login.
    private struct Kept {
        /// The encrypted token in the store; nil if the declared one is in force.
        var sealed: String?
        /// The token in the store, or the declared one.
        var stored: String
        /// The token to be sent.
        var newest: String
    }

    private let store: any MainStore
    private let clock: any RunClock
    private let random: any RandomSource
    /// The tokens that the store could not take, by login, with the encrypted token that each replaces.
    private let unsaved = Mutex<[String: (former: String?, next: String)]>([:])

    init(_ store: any MainStore, clock: any RunClock, random: any RandomSource) {
        self.store = store
        self.clock = clock
        self.random = random
    }

    func exchange(
        of client: ClientCredentials, within limit: Duration,
        by exchange: @escaping @Sendable (String) async throws -> TokenStore.Token
    ) async throws -> TokenStore.Token {
        guard let login = client.login, let id = client.loginID else { preconditionFailure("the client has no login") }
        // A task of its own, because cancelling the run must not cut off the token server's answer.
        let work = Task { try await self.exchange(client, login, id, within: limit, by: exchange) }
        return try await withTaskCancellationHandler {
            try await work.value
        } onCancel: { [clock] in
            Task {
                try? await clock.sleep(for: Self.grace)
                work.cancel()
            }
        }
    }

    private func exchange(
        _ client: ClientCredentials, _ login: ClientCredentials.Login, _ id: String, within limit: Duration,
        by exchange: @escaping @Sendable (String) async throws -> TokenStore.Token
    ) async throws -> TokenStore.Token {
        let cipher = ColumnCipher(key: login.key, table: "tributary_login", column: id)
        let holder = random.identifier()
        let sealed = try await lease(id, holder, limit)
        do {
            let kept = try kept(sealed, client, login, id, cipher)
            let end = clock.uptime + limit
            let token = try await withDeadline(clock: clock, left: { [clock] in end - clock.uptime }) {
                FetchError(
                    .timeout, "the token server \(client.tokenURL) issued no token within \(limit.secondsText)")
            } _: {
                try await exchange(kept.newest)
            }
            try await keep(token.nextRefreshToken ?? kept.newest, after: kept, id, holder, cipher)
            return token
        } catch {
            // Otherwise the lease ends by itself.
            try? await store.writeInGroup { try $0.logins.release(id, by: holder) }
            throw error
        }
    }

    /// Waits for the right to exchange a login's refresh token, and takes it.
    ///
    /// - Returns: the encrypted token; nil without one.
    private func lease(_ id: String, _ holder: String, _ limit: Duration) async throws -> String? {
        let seconds = Int((limit + Self.margin).seconds.rounded(.up))
        var pause = Duration.milliseconds(20)
        while true {
            let found = Mutex<(isHeld: Bool, sealed: String?)>((false, nil))
            try await store.writeInGroup { ledger in
                let isHeld = try ledger.logins.hold(id, by: holder, seconds: seconds)
                let sealed = isHeld ? try ledger.logins.token(of: id) : nil
                found.withLock { $0 = (isHeld, sealed) }
            }
            let answer = found.withLock(\.self)
            if answer.isHeld { return answer.sealed }
            // The end of a lease is not notified.
            try await clock.sleep(for: pause)
            pause = min(pause * 2, .seconds(1))
        }
    }

    /// - Throws: ``FetchError`` if the token was encrypted with another key.
    private func kept(
        _ sealed: String?, _ client: ClientCredentials, _ login: ClientCredentials.Login, _ id: String,
        _ cipher: ColumnCipher
    ) throws -> Kept {
        var stored = login.firstToken.value
        if let sealed {
            guard let bytes = Data(base64Encoded: sealed), let token = try? cipher.open(bytes) else {
                throw FetchError(
                    .decoding,
                    "the refresh token for \(client.tokenURL) that the store keeps cannot be decrypted with the "
                        + "encryption_key of [store]; declare the key with which it was encrypted, or \(login.renewal)")
            }
            stored = String(decoding: token, as: UTF8.self)
        }
        let known = unsaved.withLock { $0[id] }
        return Kept(
            sealed: sealed, stored: stored, newest: known.flatMap { $0.former == sealed ? $0.next : nil } ?? stored)
    }

    /// Stores the refresh token to be sent next, and releases the lease. A store that fails is tried again while the lease
    /// lasts. After that, this process remembers the token.
    private func keep(
        _ next: String, after kept: Kept, _ id: String, _ holder: String, _ cipher: ColumnCipher
    ) async throws {
        let sealed = next == kept.stored ? nil : cipher.seal(Data(next.utf8)).base64EncodedString()
        unsaved.withLock { $0[id] = sealed == nil ? nil : (kept.sealed, next) }
        var pause = Duration.seconds(1)
        while true {
            do {
                try await store.writeInGroup { [now = clock.now()] ledger in
                    if let sealed { try ledger.logins.replace(kept.sealed, by: sealed, of: id, at: now) }
                    try ledger.logins.release(id, by: holder)
                }
                return unsaved.withLock { $0[id] = nil }
            } catch  where pause <= Self.longestPause {
                try await clock.sleep(for: pause)
                pause *= 2
            }
        }
    }
}
