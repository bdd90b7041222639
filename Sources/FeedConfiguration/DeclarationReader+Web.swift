import FeedModel

extension DeclarationReader {
    /// Reads where the daemon shows what it does: `listen`, `token` and `read_token`.
    func web() -> WebDeclaration? {
        let keys = DaemonKeys.all
        let (token, readToken) = (self[keys.token], self[keys.readToken])
        if let readToken, readToken.value == token?.value {
            report(keys.readToken, "is the same as 'token'", help: "choose another secret")
        }
        guard let address = self[keys.listen] else { return nil }
        if !address.isLoopback, !has(keys.token) {
            report(keys.listen, "\(address) is not a loopback address", help: "declare a 'token'")
        }
        return WebDeclaration(
            address: address, token: token, readToken: readToken, showsRows: value(of: keys.rows))
    }

    /// Reads where the daemon tells its health alone.
    ///
    /// - Parameter page: where it shows everything.
    func health(beside page: WebDeclaration?) -> ListenAddress? {
        let key = DaemonKeys.all.health
        guard let address = self[key] else { return nil }
        if address.port != 0, address == page?.address {
            report(key, "\(address) is the page's address", help: "give another port, or leave 'health' out")
        }
        return address
    }
}
