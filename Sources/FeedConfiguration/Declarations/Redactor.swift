import Foundation

/// Keeps secrets out of texts that others have written: errors of libraries, faults and addresses of servers. Secrets
/// are values in the secret places of a configuration, contents of files, the credentials of requests, and tokens that
/// servers have issued. They are found in every form that they take on the way.
///
/// Our own messages show templates and need no redaction. Values of fewer than four characters are left alone. They
/// occur by chance, and hiding them would reveal more than showing them.
public struct Redactor: Sendable, Equatable {
    /// Every form of every secret.
    private let forms: TextSearch

    package init(secrets: some Sequence<String> = [], authentications: some Sequence<Authentication> = []) {
        let authentications = Array(authentications)
        let all = Set(secrets).union(authentications.flatMap(\.secrets))
        // A pair is secret as a whole: its base64 form contains neither of its parts.
        let pairs = authentications.flatMap(\.pairs).flatMap { Self.base64(Array($0.utf8)) }
        forms = TextSearch(all.filter { $0.count >= TextSearch.shortest }.flatMap(Self.forms) + pairs)
    }

    /// Removes secrets from a text. A part of a secret at the end of an excerpt, before an ellipsis, is removed, too.
    public func redact(_ text: String) -> String {
        forms.replacedBeforeCuts(in: forms.replaced(in: text) { _ in "[secret]" }, with: "[secret]")
    }

    /// Returns true if a text contains a secret, and must not be kept.
    package func finds(in text: String) -> Bool { redact(text) != text }

    // MARK: - Forms

    private static func forms(_ secret: String) -> [String] {
        let bytes = Array(secret.utf8)
        let encoded = [
            secret.percentEncoded,
            secret.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? secret,
            secret.addingPercentEncoding(withAllowedCharacters: .urlQueryAllowed) ?? secret,
            secret.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? secret,
        ]
        // An HTML form writes a space as a plus sign.
        let percent = encoded + encoded.map { $0.replacingOccurrences(of: "%20", with: "+") }
        return [secret] + percent + percent.map(lowerCaseEscapes) + json(secret) + xml(secret) + base64(bytes)
            // UTF-8 that was read as Latin-1, as header fields are.
            + [String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))]
    }

    /// Returns the text with `%2f` in place of `%2F`.
    private static func lowerCaseEscapes(_ text: String) -> String {
        text.split(separator: "%", omittingEmptySubsequences: false).enumerated().map {
            $0 == 0 ? String($1) : $1.prefix(2).lowercased() + $1.dropFirst(2)
        }.joined(separator: "%")
    }

    /// Returns the forms in a JSON string (RFC 8259, section 7): with the fewest escapes possible, and with those of
    /// some writers.
    private static func json(_ text: String) -> [String] {
        func escaped(_ others: (Unicode.Scalar) -> String?) -> String {
            text.unicodeScalars.map { scalar in
                let short: String = RequestBody.Escaping.json(String(scalar))
                return short.utf8.count == 2 && short.first == "\\" ? short : others(scalar) ?? String(scalar)
            }.joined()
        }
        func unicode(_ scalar: Unicode.Scalar, _ format: String) -> String {
            String(scalar).utf16.map { String(format: format, $0) }.joined()
        }
        func isPrintable(_ scalar: Unicode.Scalar) -> Bool { (0x20...0x7E).contains(scalar.value) }
        return ["\\u%04x", "\\u%04X"].flatMap { format in
            [
                escaped { $0.value < 0x20 ? unicode($0, format) : nil },
                escaped { $0 == "/" ? "\\/" : isPrintable($0) ? nil : unicode($0, format) },
                escaped { isPrintable($0) ? nil : unicode($0, format) },
                escaped { isPrintable($0) && !"<>&'".unicodeScalars.contains($0) ? nil : unicode($0, format) },
            ]
        }
    }

    private static func xml(_ text: String) -> [String] {
        let escaped = text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
        let all = escaped.replacingOccurrences(of: ">", with: "&gt;")
        let quoted = all.replacingOccurrences(of: "\"", with: "&quot;")
        return [
            escaped, all, quoted, quoted.replacingOccurrences(of: "'", with: "&apos;"),
            quoted.replacingOccurrences(of: "'", with: "&#39;"),
            all.replacingOccurrences(of: "\"", with: "&#34;").replacingOccurrences(of: "'", with: "&#39;"),
        ]
    }

    /// Returns the forms in both alphabets (RFC 4648, sections 4 and 5), without padding.
    private static func base64(_ bytes: [UInt8]) -> [String] {
        let text = Data(bytes).base64EncodedString().replacingOccurrences(of: "=", with: "")
        let safe = text.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
        // The encoded forms are for addresses and HTML forms.
        return [text, safe, text.percentEncoded, lowerCaseEscapes(text.percentEncoded)]
    }
}

extension Authentication {
    /// The pairs of user and password, as sent.
    fileprivate var pairs: [String] {
        switch self {
        case .basic(let user, let password, _): ["\(user.value):\(password.value)"]
        case .bearer, .ssh, .s3: []
        case .oauth2(let client):
            [
                "\(client.clientID.value):\(client.clientSecret.value)",
                client.clientID.value.percentEncoded + ":" + client.clientSecret.value.percentEncoded,
            ]
        }
    }
}

extension String {
    /// The text without the user and password of the addresses in it.
    package var withoutUserInfo: String { replacing(#/:\/\/[^\/?\#@]*@/#, with: "://") }

    /// Returns the text, or its beginning and an ellipsis where it is longer than `most` Unicode scalars.
    package func shortened(to most: Int) -> String {
        guard utf8.count > most, unicodeScalars.dropFirst(most).first != nil else { return self }
        return String(String.UnicodeScalarView(unicodeScalars.prefix(most))) + "…"
    }
}
