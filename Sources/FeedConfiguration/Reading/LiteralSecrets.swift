import Foundation

/// The places of a configuration whose values are secret: keys with the name of a secret, also within bodies; headers
/// except harmless ones; users and passwords in addresses, secret parameters of addresses, and passwords in connection
/// strings. It makes no difference whether a value is written there or replaces `${NAME}`.
///
/// All of it takes time in proportion to the text.
package enum LiteralSecrets {
    /// Returns the secrets in all values of a document, right or wrong. Short ones occur in messages by chance.
    static func all(in document: TOMLTable) -> Set<String> {
        var found: Set<String> = []
        document.forEachString { path, text in
            // An excerpt has escapes, such as that of a line feed, as written.
            let path = path()
            if isSecret(path) || text.contains(" PRIVATE KEY-----") {
                found.formUnion([text, text.trimmingCharacters(in: .whitespacesAndNewlines)])
                // An excerpt has one line of a string of several.
                found.formUnion(text.split(whereSeparator: \.isNewline).map(String.init))
            }
            found.formUnion(parts(of: text).map(String.init))
            if path.names.contains("body") { found.formUnion(secrets(inBody: text)) }
        }
        return found.filter { $0.count >= 6 && !$0.contains("${") && !schemes.contains($0) }
    }

    /// Returns true if a document has a secret, however short; also if it is not TOML, where it might have any.
    package static func finds(in document: String) -> Bool {
        guard let table = try? TOMLParser.parse(Array(document.utf8)) else { return true }
        var isFound = false
        table.forEachString { path, text in
            isFound =
                isFound || !text.isEmpty && !text.contains("${") && isSecret(path()) || !parts(of: text).isEmpty
        }
        return isFound
    }

    /// Returns a message with `[secret]` in place of the secret parts of the addresses in it.
    static func redact(_ message: String) -> String {
        replaced(ranges(of: parts(of: message)), in: message) { _ in "[secret]" }
    }

    /// Returns a line with an asterisk for each scalar of the secrets that are written in it. References such as `${NAME}`
    /// are none.
    static func masked(_ line: String) -> String {
        replaced(ranges(inLine: line), in: line) { String(repeating: "*", count: $0.unicodeScalars.count) }
    }

    private static func replaced(
        _ ranges: [Range<String.Index>], in text: String, by replacement: (Substring) -> String
    ) -> String {
        var redacted = ""
        var position = text.startIndex
        for range in ranges {
            redacted += text[position..<range.lowerBound] + replacement(text[range])
            position = range.upperBound
        }
        return redacted + text[position...]
    }

    // MARK: - Names

    /// Returns true if the value of a key is secret.
    ///
    /// - Parameter isSecretName: returns true for the name of a secret.
    static func isSecret(_ path: TOMLKeyPath, by isSecretName: (String) -> Bool = { isSecret($0) }) -> Bool {
        var names = path.names[...]
        // An element's own text.
        if names.last == "." { names.removeLast() }
        guard let name = names.last else { return false }
        let table = names.dropLast().last ?? ""
        // The token of a page is a path in its document, and the private key is the path of a file.
        if name == "private_key" || table == "page" && name == "token" || freeNames.contains(table) { return false }
        if isSecretName(name) { return true }
        switch table {
        case "headers": return !plainHeaders.contains(name.lowercased())
        case "bearer": return true
        default: break
        }
        if let soap = names.firstIndex(of: "soap"), names[soap...].dropFirst().first == "header" {
            return !name.hasPrefix("@xmlns")
        }
        let isField = table == "parameters" || names.contains("body")
        return isField && fields.contains(name.lowercased().drop { $0 == "@" })
    }

    /// The tables whose keys are columns, prefixes and other names that the file chooses.
    private static let freeNames: Set = ["capture", "columns", "namespaces", "scope", "set", "values"]

    /// The usual names of parameters and fields with a secret, apart from those that ``isSecret(_:)`` knows.
    private static let fields: Set<Substring> = [
        "accesskey", "app_code", "app_id", "app_key", "appcode", "appid", "appkey", "hmac", "jwt", "key", "licence",
        "license", "otp", "pin",
    ]

    private static func isSecretField(_ name: Substring) -> Bool {
        isSecret(name) || fields.contains(Substring(name.lowercased()))
    }

    /// Returns true for the name of a secret, also a misspelt one.
    static func isSecret(_ name: some StringProtocol) -> Bool {
        let name = name.lowercased()
        if name.firstMatch(of: secretName) != nil { return true }
        let words = Set(name.split { !$0.isLetter }.map(String.init))
        return !words.isDisjoint(with: ["pass", "bearer", "sig", "signature", "session"])
            || words.contains("key") && !words.isDisjoint(with: secretKeys)
    }

    /// The words that make a key a secret one.
    private static let secretKeys: Set = [
        "access", "api", "encryption", "private", "signing", "subscription", "x",
    ]

    /// The names of headers whose values everybody may see.
    private static let plainHeaders: Set = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "cache-control", "connection",
        "content-language", "content-type", "date", "dnt", "from", "host", "if-match", "if-modified-since",
        "if-none-match", "origin", "pragma", "prefer", "range", "referer", "soapaction", "te", "user-agent",
        "x-requested-with",
    ]

    /// Values of keys that are named like secrets, but name a way to authenticate.
    private static let schemes: Set = ["basic", "bearer", "digest", "oauth2", "password", "secret"]

    // MARK: - Texts

    /// Returns the places of the secrets in a line, in order: the values of keys with the name of a secret, and the secret
    /// parts of addresses. A value may lack its quotes, or its end.
    private static func ranges(inLine line: String) -> [Range<String.Index>] {
        var found = parts(of: line)
        var position = line.startIndex
        while let separator = line[position...].firstIndex(where: { $0 == "=" || $0 == ":" }) {
            let name = key(atEndOf: line[position..<separator])
            position = line.index(after: separator)
            guard !name.isEmpty, isSecret(name), !isOfPage(name, in: line) else { continue }
            let rest = line[position...].drop { $0 == " " || $0 == "\t" }
            guard let value = value(in: rest, isAssigned: line[separator] == "=") else { continue }
            position = value.endIndex
            if !value.isEmpty, !value.hasPrefix("${") { found.append(value) }
        }
        return ranges(of: found)
    }

    /// Returns the value that a text begins with, without its quotes.
    private static func value(in text: Substring, isAssigned: Bool) -> Substring? {
        guard let quote = text.first, quote == "\"" || quote == "'" else {
            return isAssigned ? text.prefix { !$0.isWhitespace && !"\"'[]{},#".contains($0) } : nil
        }
        var isEscaped = false
        return text.dropFirst().prefix { character in
            if isEscaped {
                isEscaped = false
                return true
            }
            isEscaped = character == "\\" && quote == "\""
            return character != quote
        }
    }

    /// Returns the key that ends a text, without its quotes; empty if there is none.
    private static func key(atEndOf text: Substring) -> Substring {
        var text = text
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        while let last = text.last, last == "\"" || last == "'" { text.removeLast() }
        guard let other = text.lastIndex(where: { !isOfKey($0) }) else { return text }
        return text[text.index(after: other)...]
    }

    /// Returns true for a key of `page`, whose token is a path in the document: `page.token`, `page = { token`.
    private static func isOfPage(_ key: Substring, in line: String) -> Bool {
        // Few characters, so that the time stays in proportion to the text.
        line[..<key.startIndex].suffix(100).firstMatch(of: pagePrefix) != nil
    }

    private static func isOfKey(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || character == "_" || character == "-")
    }

    /// Returns the secret parts of a text that is an address or a connection string, or has one.
    private static func parts(of text: String) -> [Substring] {
        var parts: [Substring] = []
        if text.contains("@") {
            parts += text.matches(of: userInfo).map(\.1) + text.matches(of: bareUserInfo).map(\.1)
            // The password occurs without the user, too.
            parts += parts.compactMap { part in part.firstIndex(of: ":").map { part[$0...].dropFirst() } }
        }
        if text.contains("=") {
            parts += text.matches(of: parameter).filter { isSecretField($0.1) }.map(\.2)
            parts += text.matches(of: setting).map(\.2)
        }
        // Help has `USER` in an example.
        return parts.filter { !$0.isEmpty && !$0.contains("${") && $0 != "USER" }
    }

    /// Returns the passwords and the secret parameters of a text that is an address or a connection string, or has one.
    static func secrets(inAddress text: String) -> [String] {
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "=") }) else { return [] }
        let values = parts(of: text).flatMap { part -> [Substring] in
            // The user alone is known to all.
            let isUser = part.endIndex < text.endIndex && text[part.endIndex] == "@" && !part.contains(":")
            let isPassword = part.startIndex > text.startIndex && text[text.index(before: part.startIndex)] == ":"
            if isUser, !isPassword { return [] }
            return part.first == "'" ? [part.dropFirst().dropLast(part.last == "'" ? 1 : 0)] : [part]
        }
        return values.filter { !$0.utf8.contains(0) }.flatMap { value in
            [String(value)] + [value.removingPercentEncoding].compactMap(\.self)
        }
    }

    /// Returns the values of the fields with the name of a secret in a text that is XML, JSON or a form.
    static func secrets(inBody text: String) -> [String] {
        var found = text.matches(of: element).filter { isSecretField($0.1) }.map { unescaped($0.2) }
        found += text.matches(of: attribute).filter { isSecretField($0.1) }.map { unescaped($0.2 ?? $0.3 ?? "") }
        found += text.matches(of: member).filter { isSecretField($0.1) }.map { String($0.2) }
        found += text.matches(of: field).filter { isSecretField($0.1) }.flatMap {
            [String($0.2), $0.2.removingPercentEncoding ?? ""]
        }
        return found.filter { !$0.isEmpty && !$0.utf8.contains(0) }
    }

    private static func unescaped(_ text: Substring) -> String {
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")].reduce(String(text)) {
            $0.replacing($1.0, with: $1.1)
        }
    }

    /// Returns the ranges of parts of one text in order, those that overlap as one.
    private static func ranges(of parts: [Substring]) -> [Range<String.Index>] {
        parts.map { $0.startIndex..<$0.endIndex }.sorted { $0.lowerBound < $1.lowerBound }.reduce(into: []) {
            if let last = $0.last, $1.lowerBound < last.upperBound {
                $0[$0.count - 1] = last.lowerBound..<max(last.upperBound, $1.upperBound)
            } else {
                $0.append($1)
            }
        }
    }

    // `nonisolated(unsafe)`: a Regex is not Sendable; these are never changed, and matching changes nothing in them.
    nonisolated(unsafe) private static let secretName =
        #/pas+w|pass(?:phrase|code|key)|pwd|secret|token(?!_url)|auth(?!or(?!i[sz]))|cookie|credential(?!s_in)|apikey/#
    /// The user and the password of an address. A password may have characters that it should not have, such as a slash,
    /// but a port has none. Two slashes begin the next address.
    nonisolated(unsafe) private static let userInfo =
        #/\/\/([^\/\s"'@:]*:(?!\d{1,5}\/)(?:(?!\/\/)[^\s"'@])*(?:@[^\s"'@\/]*(?=@))*|[^\/\s"'@:?\[]+)@/#
    /// Those of an address without a scheme. A slash before `@` is that of a path: `p:name/@attribute`.
    nonisolated(unsafe) private static let bareUserInfo =
        #/(?:^|["'])(?!mailto:|sip:|xmpp:)([^\/\s"'@:]+:(?!\/\/)[^\s"'@]*[^\s"'@\/])@/#
    nonisolated(unsafe) private static let parameter = #/[?&;]([^=&;\s"'?]+)=([^&\s"'\#]+)/#
    /// An element with nothing but text.
    nonisolated(unsafe) private static let element =
        #/<(?:[\w.\-]+:)?([\w.\-]+)(?:\s[^<>]*)?>\s*([^<>\s](?:[^<>]*[^<>\s])?)\s*<\//#
    nonisolated(unsafe) private static let attribute = #/\s(?:[\w.\-]+:)?([\w.\-]+)\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)')/#
    nonisolated(unsafe) private static let member = #/"([^"\\]+)"\s*:\s*"((?:[^"\\]|\\.)*)"/#
    nonisolated(unsafe) private static let field = #/(?:^|&)([^=&;\s"'<>{]+)=([^&\s"'<>]+)/#
    nonisolated(unsafe) private static let pagePrefix = #/\bpage(?:\s*\.\s*|\s*=\s*\{[^{}]*)$/#
    /// A setting of a connection string of keywords: `password=…`, with or without quotes.
    nonisolated(unsafe) private static let setting =
        #/\b((?:ssl)?pass(?:word|file)?)\s*=\s*('(?:[^'\\]|\\.)*'?|[^\s'"&]+)/#.ignoresCase()
}
