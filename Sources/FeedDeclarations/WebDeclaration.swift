/// Where the daemon's page, metrics and health are shown, as `[daemon] listen` and `token` declare it.
package struct WebDeclaration: Sendable, Equatable {
    package var address: ListenAddress
    /// The password of everything but `/healthz`; nil where only this machine can ask.
    package var token: InterpolatedText?

    package init(address: ListenAddress, token: InterpolatedText?) {
        self.address = address
        self.token = token
    }
}
