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

    /// The right to exchange the refresh token of a login.
    private struct Lease {
        var id: String
        var client: ClientCredentials
        var login: ClientCredentials.Login
        /// Distinguishes the exchanges.
        var holder: String
        /// The encrypted token in the store; nil if the declared one is in force.
        var sealed: String?

        var cipher: ColumnCipher { ColumnCipher(key: login.key, table: "tributary_login", column: id) }
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
        of client: ClientCredentials, within limit: Duration, beforeWaiting: @escaping @Sendable () -> Void,
        by exchange: @escaping @Sendable (String) async throws -> TokenStore.Token
    ) async throws -> TokenStore.Token {
        guard let login = client.login, let id = client.loginID else { preconditionFailure("the client has no login") }
        let wanted = Lease(id: id, client: client, login: login, holder: random.identifier())
        // A task of its own, because cancelling the run must not cut off the token server's answer.
        let work = Task {
            let lease = try await take(wanted, for: limit + Self.margin, beforeWaiting)
            do {
                let stored = try token(of: lease)
                let sent = unsaved(after: lease) ?? stored
                let tooSlow = FetchError(
                    .timeout, "the token server \(client.tokenURL) issued no token within \(limit.secondsText)")
                let token = try await withTimeLimit(limit, by: clock, timeout: tooSlow) { try await exchange(sent) }
                let next = token.nextRefreshToken ?? sent
                try await end(lease, next: next == stored ? nil : next)
                return token
            } catch let unusable as UnusableToken {
                try await end(lease, next: unusable.nextRefreshToken)
                throw unusable.error
            } catch {
                // Otherwise the lease ends by itself.
                try? await store.writeInGroup { try $0.logins.release(id, by: lease.holder) }
                throw error
            }
        }
        return try await withTaskCancellationHandler {
            try await work.value
        } onCancel: { [clock] in
            Task {
                try? await clock.sleep(for: Self.grace)
                work.cancel()
            }
        }
    }

    /// Waits until no other exchange has the lease, and takes it.
    ///
    /// - Throws: ``FetchError`` if others have had it for twice its time.
    private func take(_ wanted: Lease, for time: Duration, _ beforeWaiting: () -> Void) async throws -> Lease {
        var pause = Duration.milliseconds(20)
        let end = clock.uptime + time * 2
        while true {
            let taken = Mutex<Lease?>(nil)
            try await store.writeInGroup { ledger in
                var lease: Lease?
                if try ledger.logins.hold(wanted.id, by: wanted.holder, seconds: Int(time.seconds.rounded(.up))) {
                    lease = wanted
                    lease?.sealed = try ledger.logins.token(of: wanted.id)
                }
                taken.withLock { $0 = lease }
            }
            if let lease = taken.withLock(\.self) { return lease }
            guard clock.uptime < end else {
                throw FetchError(
                    .timeout,
                    "another process has been exchanging the refresh token for \(wanted.client.tokenURL) for "
                        + "\((time * 2).secondsText); look whether one hangs")
            }
            beforeWaiting()
            // The end of a lease is not notified.
            try await clock.sleep(for: pause)
            pause = min(pause * 2, .seconds(1))
        }
    }

    /// Returns the token in the store, or the declared one.
    ///
    /// - Throws: ``FetchError`` if the token was encrypted with another key.
    private func token(of lease: Lease) throws -> String {
        guard let sealed = lease.sealed else { return lease.login.firstToken.value }
        guard let bytes = Data(base64Encoded: sealed), let token = try? lease.cipher.open(bytes) else {
            throw FetchError(
                .decoding,
                "the refresh token for \(lease.client.tokenURL) that the store keeps "
                    + "cannot be decrypted with the encryption_key of [store]; "
                    + "declare the key with which it was encrypted, or \(lease.login.renewal)")
        }
        return String(decoding: token, as: UTF8.self)
    }

    /// Returns the token that follows the one in the store, and that the store could not take.
    private func unsaved(after lease: Lease) -> String? {
        unsaved.withLock { $0[lease.id] }.flatMap { $0.former == lease.sealed ? $0.next : nil }
    }

    /// Stores the next token, and ends the lease. A store that fails is tried again while the lease lasts. After that, this
    /// process remembers the token.
    ///
    /// - Parameter next: the token to be sent next; nil if it is the one in the store.
    private func end(_ lease: Lease, next: String?) async throws {
        let sealed = next.map { lease.cipher.seal(Data($0.utf8)).base64EncodedString() }
        unsaved.withLock { $0[lease.id] = next.map { (lease.sealed, $0) } }
        var pause = Duration.seconds(1)
        while true {
            do {
                try await store.writeInGroup { [now = clock.now()] ledger in
                    if let sealed { try ledger.logins.replace(lease.sealed, by: sealed, of: lease.id, at: now) }
                    try ledger.logins.release(lease.id, by: lease.holder)
                }
                return unsaved.withLock { $0[lease.id] = nil }
            } catch  where pause <= Self.longestPause {
                try await clock.sleep(for: pause)
                pause *= 2
            }
        }
    }
}
