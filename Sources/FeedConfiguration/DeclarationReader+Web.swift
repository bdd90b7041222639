import FeedModel

extension DeclarationReader {
    /// The shortest token that is taken. One of random letters and digits has 95 bits.
    private static let shortestToken = 16

    /// Reads where the daemon shows what it does: `listen`, `token` and `read_token`.
    func web() -> WebDeclaration? {
        let written = self[DaemonKeys.all.listen]
        let token = self[DaemonKeys.all.token]
        let readToken = self[DaemonKeys.all.readToken]
        let showsRows = self[DaemonKeys.all.rows] ?? true
        for (key, token) in [("token", token), ("read_token", readToken)] {
            guard let token, token.value.utf8.count < Self.shortestToken else { continue }
            report(
                key,
                "a token has at least \(Self.shortestToken) characters", help: "`openssl rand -hex 16` makes one"
            )
        }
        if let readToken, readToken.value == token?.value {
            report("read_token", "is the same as 'token'", help: "choose another secret")
        }
        guard let address = address(written, "listen") else { return nil }
        if !address.isLoopback, token == nil {
            report("listen", "\(address) is not a loopback address", help: "declare a 'token'")
        }
        return WebDeclaration(
            address: address, token: token, readToken: readToken, showsRows: showsRows)
    }

    /// Reads where the daemon tells its health alone.
    ///
    /// - Parameter page: where it shows everything.
    func health(beside page: WebDeclaration?) -> ListenAddress? {
        guard let address = address(self[DaemonKeys.all.health], "health") else { return nil }
        if address.port != 0, address == page?.address {
            report("health", "\(address) is the page's address", help: "give another port, or leave 'health' out")
        }
        return address
    }

    func address(_ written: String?, _ key: String) -> ListenAddress? {
        guard let written else { return nil }
        if let address = ListenAddress(written) { return address }
        report(
            key,
            "'\(written)' is not an IP address and a port",
            help: "write \"127.0.0.1:8090\", \"[::1]:8090\" or \"0.0.0.0:8090\""
        )
        return nil
    }
}
