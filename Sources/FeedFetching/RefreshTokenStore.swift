package import FeedConfiguration

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
