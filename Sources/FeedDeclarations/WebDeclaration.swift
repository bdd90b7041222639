/// Where the daemon's page, metrics and health are shown, as `[daemon] listen` and `token` declare it.
package struct WebDeclaration: Sendable, Equatable {
    package var address: ListenAddress
    /// The password of everything but `/healthz`; nil where only this machine can ask.
    package var token: InterpolatedText?
    /// The password of those who change nothing; nil where there is none.
    package var readToken: InterpolatedText?
    /// False where the rows of the store are not shown.
    package var showsRows: Bool

    package init(
        address: ListenAddress, token: InterpolatedText?, readToken: InterpolatedText? = nil, showsRows: Bool = true
    ) {
        self.address = address
        self.token = token
        self.readToken = readToken
        self.showsRows = showsRows
    }
}
