import FeedDeclarations
import FeedModel

extension DeclarationReader {
    /// The shortest token that is taken. One of random letters and digits has 95 bits.
    private static let shortestToken = 16

    /// Reads where the daemon shows what it does: `listen` and `token`.
    func web() -> WebDeclaration? {
        let written = string("listen")
        let token = text("token")
        if let token, token.value.utf8.count < Self.shortestToken {
            report(
                "token",
                "a token of fewer than \(Self.shortestToken) characters can be guessed; `openssl rand -hex 16` makes one"
            )
        }
        guard let written else {
            if token != nil { report("token", "there is no 'listen' whose token this could be") }
            return nil
        }
        guard let address = ListenAddress(written) else {
            report(
                "listen",
                "'\(written)' is not an IP address and a port; write \"127.0.0.1:8090\", \"[::1]:8090\" or \"0.0.0.0:8090\""
            )
            return nil
        }
        if !address.isLoopback, token == nil {
            report("listen", "other machines can connect to \(address); declare the 'token' that they must know")
        }
        return WebDeclaration(address: address, token: token)
    }
}
