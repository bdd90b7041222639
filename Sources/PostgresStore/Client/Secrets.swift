import Foundation

/// Passwords, and the pieces of a connection string that may be parts of one.
///
/// A password that is written wrongly ends where libpq thinks, and its rest becomes a host, a port or a keyword, which libpq's
/// messages quote. So where the string cannot be what was meant, a quoted piece is shown only if it stands before the password.
struct Secrets {
    /// The password in the URI is not the one that libpq sees.
    let isPasswordBroken: Bool
    private let hidden: [String]
    /// The string as far as the first password; nil if quoted pieces need no care.
    private let shown: String?

    /// - Parameter passwords: those that libpq sees.
    /// - Parameter isRead: false if libpq cannot read the string.
    init(_ text: String, passwords: [String], isRead: Bool) {
        let userInfo = Self.userInfo(text, passwords, isRead: isRead)
        isPasswordBroken = userInfo?.isBroken ?? false
        if let userInfo, userInfo.isBroken {
            shown = userInfo.user
        } else if !isRead, let keyword = text.range(of: "password", options: .caseInsensitive) {
            shown = String(text[..<keyword.lowerBound])
        } else {
            shown = nil
        }
        let encoded = passwords.compactMap { $0.addingPercentEncoding(withAllowedCharacters: .alphanumerics) }
        let written = userInfo.map { [$0.password, $0.password.removingPercentEncoding ?? ""] } ?? []
        hidden = Set(passwords + encoded + written).filter { !$0.isEmpty }.sorted { $0.utf8.count > $1.utf8.count }
    }

    static let mask = "***"

    func redacted(_ message: String) -> String {
        var text = message
        for secret in hidden { text = Self.replaceWhole(secret, in: text) }
        guard let shown else { return text }
        return Self.maskQuoted(in: text) { shown.contains($0) }
    }

    /// A part of the server's address, which is hidden altogether where it may be a piece of the password.
    func redacted(part: String) -> String {
        guard let shown, !shown.contains(part) else { return part }
        return Self.mask
    }

    /// The password between the first colon and an at sign: that which libpq sees, or else all as far as the last at sign.
    private static func userInfo(
        _ text: String, _ passwords: [String], isRead: Bool
    ) -> (user: String, password: String, isBroken: Bool)? {
        guard text.hasPrefix("postgresql://") || text.hasPrefix("postgres://"), let start = text.range(of: "://"),
            let colon = text[start.upperBound...].firstIndex(where: { $0 == ":" || $0 == "@" }), text[colon] == ":"
        else { return nil }
        let user = String(text[start.upperBound..<colon])
        let rest = text[text.index(after: colon)...]
        // Parameters after a question mark may hold at signs. Before it, nothing else is expected to.
        var end = rest.endIndex
        for at in rest.indices where rest[at] == "@" && isRead {
            let password = String(rest[..<at])
            guard passwords.contains(password.removingPercentEncoding ?? password) else { continue }
            end = rest[at...].firstIndex(of: "?") ?? rest.endIndex
            if !rest[at..<end].dropFirst().contains("@") { return (user, password, false) }
        }
        if isRead && end == rest.endIndex { end = rest.firstIndex(of: "?") ?? rest.endIndex }
        guard let last = rest[..<end].lastIndex(of: "@"), last > rest.startIndex else { return nil }
        return (user, String(rest[..<last]), true)
    }

    /// Only where neither a letter nor a digit is beside it: a short password is a part of many words, and their holes would
    /// tell it.
    private static func replaceWhole(_ secret: String, in text: String) -> String {
        var rest = text[...]
        var replaced = ""
        while let range = rest.range(of: secret) {
            let before = replaced.last ?? " "
            let preceding = range.lowerBound == rest.startIndex ? before : rest[rest.index(before: range.lowerBound)]
            let following = range.upperBound == rest.endIndex ? " " : rest[range.upperBound]
            let isWhole = !isWord(preceding) && !isWord(following)
            replaced += rest[..<range.lowerBound] + (isWhole ? mask : String(rest[range]))
            rest = rest[range.upperBound...]
        }
        return replaced + rest
    }

    private static func isWord(_ character: Character) -> Bool { character.isLetter || character.isNumber }

    private static func maskQuoted(in text: String, except isShown: (Substring) -> Bool) -> String {
        let pieces = text.split(separator: "\"", omittingEmptySubsequences: false)
        var masked = ""
        for (index, piece) in pieces.enumerated() {
            if index > 0 { masked += "\"" }
            masked += index.isMultiple(of: 2) || isShown(piece) ? piece : mask[...]
        }
        return masked
    }
}
