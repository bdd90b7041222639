package import Foundation

/// The origin of an address (RFC 6454, section 4). It decides which headers go along, and which permits and rate limits
/// count.
package struct Origin: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The origin of this machine's files.
    package static let file = Origin(scheme: "file", host: "", port: 0, text: "file:")

    package let scheme: String
    /// In lower case, as it stands before a port: an IPv6 address in brackets (RFC 3986, section 3.2.2).
    package let host: String
    package let port: Int
    /// `scheme://host:port`, made once: it is compared more often than made.
    package let description: String

    private init(scheme: String, host: String, port: Int, text: String) {
        self.scheme = scheme
        self.host = host
        self.port = port
        description = text
    }

    package init(scheme: String, host: String, port: Int) {
        self.init(scheme: scheme, host: host, port: port, text: "\(scheme)://\(host):\(port)")
    }

    package init(_ url: URL) {
        let scheme = url.scheme?.lowercased() ?? "http"
        if scheme == "file" {
            self = .file
        } else {
            self.init(scheme: scheme, host: url.hostBeforePort, port: url.port ?? Self.port(of: scheme))
        }
    }

    /// Reads an origin as ``description`` writes it; nil for any other text.
    package init?(_ text: String) {
        guard let url = URL(string: text), url.scheme != nil else { return nil }
        self.init(url)
        guard description == text else { return nil }
    }

    /// Returns the port of an address that names none.
    private static func port(of scheme: String) -> Int {
        switch scheme {
        case "https": 443
        case "sftp": 22
        case "ftp": 21
        case "ftps": 990
        default: 80
        }
    }

    package var isFile: Bool { self == .file }

    package static func == (one: Origin, other: Origin) -> Bool { one.description == other.description }

    package func hash(into hasher: inout Hasher) { hasher.combine(description) }

    package static func < (one: Origin, other: Origin) -> Bool { one.description < other.description }
}

extension URL {
    package var origin: Origin { Origin(self) }

    /// The host in lower case, as it stands before a port: an IPv6 address in brackets (RFC 3986, section 3.2.2).
    package var hostBeforePort: String {
        let name = host?.lowercased() ?? ""
        return name.contains(":") ? "[\(name)]" : name
    }
}
