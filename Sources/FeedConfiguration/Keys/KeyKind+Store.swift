import FeedModel
import Foundation

/// Kinds of values that the store, the daemon and hooks have. What may be a secret is not shown.
extension KeyKind<String> {
    /// The path of a store.
    static var storePath: Self {
        string.checked("the path is empty", help: "name a file") { !$0.isEmpty }
            .checked("this is an address, but 'path' names a file", help: "for a store on a server, use 'url'") {
                path in
                guard let scheme = path.range(of: "://") else { return true }
                return path[..<scheme.lowerBound].contains { !$0.isLetter && !$0.isNumber }
            }
    }
}

extension KeyKind<InterpolatedText> {
    /// A connection string of PostgreSQL.
    static var connectionString: Self {
        text.checked(
            "this is not a connection string of PostgreSQL",
            help: "write postgresql://USER@HOST/DATABASE, or host=… dbname=… user=…"
        ) { text in
            text.value.contains("=") || ["postgres://", "postgresql://"].contains { text.value.hasPrefix($0) }
        }
    }

    /// The secret of clients. One of random letters and digits has 95 bits.
    static var token: Self {
        text.checked("a token has at least 16 characters", help: "`openssl rand -hex 16` makes one") {
            $0.value.utf8.count >= 16
        }
    }
}

extension KeyKind<EncryptionKey> {
    static var encryptionKey: Self {
        KeyKind<String>.string.parsed(
            { _ in "the key is not 32 bytes in hex" }, help: "`openssl rand -hex 32` makes one"
        ) { EncryptionKey(hexadecimal: $0) }
    }
}

extension KeyKind<HookSecret> {
    static var hookSecret: Self {
        let (least, most) = (HookSecret.lengths.lowerBound, HookSecret.lengths.upperBound)
        return KeyKind<InterpolatedText>.text.parsed(
            { _ in "a secret is \"whsec_\" and \(least) to \(most) bytes in base 64" },
            help: "`echo whsec_$(openssl rand -base64 32)` makes one"
        ) { HookSecret($0.value) }
    }
}

extension KeyKind<ListenAddress> {
    static var listenAddress: Self {
        KeyKind<String>.string.parsed(
            { "'\($0)' is not an IP address and a port" },
            help: "write \"127.0.0.1:8090\", \"[::1]:8090\" or \"0.0.0.0:8090\""
        ) { ListenAddress($0) }
    }
}
