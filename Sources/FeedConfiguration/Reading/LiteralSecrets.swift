import FeedDeclarations
import Foundation
import TOML

/// Recognition of secrets that a configuration has as literals, and not by a reference such as `${NAME}`: values of keys with
/// the name of a secret, headers, users and passwords in addresses, secret parameters of addresses, and passwords in
/// connection strings.
enum LiteralSecrets {
    /// Returns the secrets in all values of a document, right or wrong. Short ones occur in messages by chance.
    static func all(in document: TOMLTable) -> Set<String> {
        var found: Set<String> = []
        document.forEachString { path, text in
            // An excerpt has escapes, such as that of a line feed, as written.
            if isSecret(path()) || text.contains(" PRIVATE KEY-----") {
                found.formUnion([text, text.trimmingCharacters(in: .whitespacesAndNewlines)])
            }
            found.formUnion(parts(of: text).map(String.init))
        }
        return found.filter { $0.count >= 6 && !$0.contains("${") && !schemes.contains($0) }
    }

    /// Returns a message with `[secret]` in place of the secret parts of the addresses in it.
    static func redact(_ message: String) -> String {
        var redacted = message
        for part in parts(of: message).sorted(by: { $0.startIndex > $1.startIndex })
        where part.endIndex <= message.endIndex {
            redacted = redacted.replacing(part, with: "[secret]")
        }
        return redacted
    }

    /// Returns true where the value of a key is secret.
    static func isSecret(_ path: TOMLKeyPath) -> Bool {
        let (name, table) = (path.lastKey, path.parent.lastKey)
        // The token of a page is a path in its document, and the private key is one of a file.
        if name == "private_key" || table == "page" && name == "token" { return false }
        if isSecret(name) { return true }
        return table == "headers" ? !name.isOfPlainHeader : table == "bearer"
    }

    /// Returns true for the name of a secret.
    static func isSecret(_ name: some StringProtocol) -> Bool { name.lowercased().firstMatch(of: secretName) != nil }

    /// Returns the secret parts of a text that is an address or a connection string, or has one.
    static func parts(of text: String) -> [Substring] {
        var parts: [Substring] = []
        if text.contains("@") {
            parts += text.matches(of: userInfo).map(\.1) + text.matches(of: bareUserInfo).map(\.1)
            // The password occurs without the user, too.
            parts += parts.compactMap { part in part.firstIndex(of: ":").map { part[$0...].dropFirst() } }
        }
        if text.contains("=") {
            parts += text.matches(of: parameter).filter {
                $0.1.lowercased() == "key" || String($0.1).isOfSecret || isSecret($0.1)
            }.map(\.2)
            parts += text.matches(of: setting).map(\.2)
        }
        // Help has `USER` in an example.
        return parts.filter { !$0.isEmpty && !$0.contains("${") && $0 != "USER" }
    }

    /// Values of keys that are named like secrets, but name a way to authenticate.
    private static let schemes: Set = ["basic", "bearer", "digest", "oauth2", "password", "secret"]

    // `nonisolated(unsafe)`: a Regex is not Sendable; these are never changed, and matching changes nothing in them.
    nonisolated(unsafe) private static let secretName =
        #/pass|pas+w|pwd|secret|token(?!_url)|auth(?!ors?(?:$|[^a-z]))|cookie|credential(?!s_in)|[_-]key|apikey/#
    /// The user and the password of an address. A password may have characters that it should not have, such as a slash,
    /// but a port has none.
    nonisolated(unsafe) private static let userInfo =
        #/\/\/([^\/\s"'@:]*:(?!\d{1,5}\/)[^\s"'@]*(?:@[^\s"'@\/]*(?=@))*|[^\/\s"'@:?]+)@/#
    /// Those of an address without a scheme.
    nonisolated(unsafe) private static let bareUserInfo =
        #/(?:^|["'])(?!mailto:|sip:|xmpp:)([^\/\s"'@:]+:(?!\/\/)[^\s"'@]+)@/#
    nonisolated(unsafe) private static let parameter = #/[?&;]([^=&\s"'?]+)=([^&\s"'\#]+)/#
    /// A setting of a connection string of keywords: `password=…`, with or without quotes.
    nonisolated(unsafe) private static let setting =
        #/\b((?:ssl)?pass(?:word|file)?)\s*=\s*('(?:[^'\\]|\\.)*'?|[^\s'"&]+)/#.ignoresCase()
}
