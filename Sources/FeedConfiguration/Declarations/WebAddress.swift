package import FeedModel
package import Foundation

/// An `http:` or `https:` address to which a request can be sent. Every external address is checked here before it is
/// used: a `url`, a `Location`, a captured address, that of a next page, a token server or a proxy.
package struct WebAddress: Sendable, Hashable {
    /// The most bytes of an address; a longer one is refused. Servers commonly accept 8,192.
    static let lengthLimit = 16_384
    /// The most bytes of a name in the DNS (RFC 1035, section 2.3.4).
    private static let hostLimit = 253

    package let url: URL

    /// - Parameters:
    ///   - text: an absolute address, or one that is relative to `base`.
    ///   - schemes: the allowed schemes.
    ///   - others: further schemes that the message names as possible.
    ///   - allowsUser: true if the address may have a user and a password.
    /// - Throws: ``Finding``, the reason why it cannot be used. It contains nothing of the address, which may be secret.
    package init(
        _ text: String, relativeTo base: URL? = nil, schemes: [String] = ["http", "https"], others: [String] = [],
        allowsUser: Bool = false
    ) throws(Finding) {
        try Self.check(text)
        guard let url = URL(string: text, relativeTo: base)?.absoluteURL else {
            throw Finding("it is not a URL (RFC 3986)")
        }
        guard let scheme = url.scheme?.lowercased(), schemes.contains(scheme) else {
            throw Finding("it is not an \((schemes + others).map { $0 + ":" }.alternatives) URL")
        }
        // Parsed by hand: Foundation drops a port that it cannot hold, and accepts one that no socket can use.
        let authority = Self.authority(of: url.absoluteString)
        let place = authority.utf8.lastIndex(of: UInt8(ascii: "@")).map { authority[authority.index(after: $0)...] }
        guard allowsUser || place == nil else {
            throw Finding("it has a user or password in it", help: "declare 'auth = { basic = … }' instead")
        }
        try Self.checkHost(Self.host(in: place ?? authority), Self.port(in: place ?? authority))
        guard let host = url.host, !host.isEmpty else { throw Finding("it names no host") }
        // A base may have made it longer.
        guard url.absoluteString.utf8.count <= Self.lengthLimit else { throw Self.tooLong }
        self.url = url
    }

    /// Checks the rules for every address, even a file's: no control character, and not too long.
    package static func check(_ text: String) throws(Finding) {
        guard text.utf8.count <= lengthLimit else { throw tooLong }
        guard !text.unicodeScalars.contains(where: { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }) else {
            throw Finding("it has a control character in it, such as a line feed")
        }
    }

    private static var tooLong: Finding {
        Finding("it is longer than \(lengthLimit) bytes")
    }

    /// Returns the text between `//` and the path (RFC 3986, section 3.2).
    private static func authority(of text: String) -> Substring {
        let slash = UInt8(ascii: "/")
        var rest = text.utf8[...]
        while let first = rest.firstIndex(of: slash) {
            rest = rest[rest.index(after: first)...]
            guard rest.first == slash else { continue }
            rest.removeFirst()
            return Substring(rest.prefix { $0 != slash && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
        }
        return ""
    }

    private static func host(in place: Substring) -> Substring {
        let bytes = place.utf8
        if bytes.first == UInt8(ascii: "["), let end = bytes.firstIndex(of: UInt8(ascii: "]")) { return place[...end] }
        return Substring(bytes.prefix { $0 != UInt8(ascii: ":") })
    }

    private static func port(in place: Substring) -> Substring {
        let rest = place[host(in: place).endIndex...]
        return rest.first == ":" ? rest.dropFirst() : rest
    }

    private static func checkHost(_ host: Substring, _ port: Substring) throws(Finding) {
        guard !host.isEmpty else { throw Finding("it names no host") }
        let isLiteral = host.first == "["
        let allowed: (UInt8) -> Bool = { byte in
            byte.isLetterOrDigit || "-._".utf8.contains(byte) || isLiteral && "[]:%".utf8.contains(byte)
        }
        guard host.utf8.count <= hostLimit, host.utf8.allSatisfy(allowed), host.contains(where: { !".[]".contains($0) })
        else { throw Finding("its host is neither a name nor an address") }
        // An empty port means the scheme's default (RFC 3986, section 3.2.3).
        guard port.isEmpty || (port.utf8.allSatisfy { (48...57).contains($0) } && UInt16(port) ?? 0 > 0) else {
            throw Finding("its port is not a number from 1 to 65535")
        }
    }

    /// Returns the bytes of a part of a path.
    static func name(_ part: Substring) throws(Finding) -> [UInt8] {
        let pieces = part.utf8.split(separator: UInt8(ascii: "%"), omittingEmptySubsequences: false)
        var bytes = pieces.first.map(Array.init) ?? []
        for piece in pieces.dropFirst() {
            guard let escaped = UInt8(String(Substring(piece.prefix(2))), radix: 16) else {
                throw Finding("it is not a URL (RFC 3986)")
            }
            bytes += [escaped] + piece.dropFirst(2)
        }
        guard !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw Finding("it has a control character in it, such as a line feed")
        }
        guard !bytes.contains(UInt8(ascii: "/")), ![".", ".."].contains(String(decoding: bytes, as: UTF8.self)) else {
            throw Finding("its path has '.', '..' or an encoded '/' as the name of a part")
        }
        return bytes
    }
}

extension [String] {
    /// The texts as alternatives: `a, b or c`.
    var alternatives: String {
        dropLast().joined(separator: ", ") + (count > 1 ? " or " : "") + (last ?? "")
    }
}

extension String {
    /// The text with all but the unreserved characters percent-encoded (RFC 3986, section 2.3).
    package var percentEncoded: String { utf8.percentEncoded }
}

extension Sequence<UInt8> {
    /// The bytes as text, all but the unreserved characters percent-encoded (RFC 3986, section 2.3).
    var percentEncoded: String {
        let digits = Array("0123456789ABCDEF".utf8)
        let encoded = flatMap { byte in
            byte.isLetterOrDigit || "-._~".utf8.contains(byte)
                ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}

extension UInt8 {
    /// True for a letter or a digit of ASCII.
    var isLetterOrDigit: Bool {
        let letter = self | 0x20
        return letter >= UInt8(ascii: "a") && letter <= UInt8(ascii: "z")
            || self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9")
    }
}
