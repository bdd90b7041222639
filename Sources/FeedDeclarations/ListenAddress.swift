import Foundation

/// An address and a port at which connections are accepted: `127.0.0.1:8090`, `[::1]:8090`, `0.0.0.0:8090`.
package struct ListenAddress: Sendable, Equatable, CustomStringConvertible {
    /// An IP address, without brackets.
    package let host: String
    /// 0 for any port that is free.
    package let port: Int

    /// - Returns: nil for a text that is no IP address, or `localhost`, with a port.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = String(text[..<colon])
        if host == "localhost" { host = "127.0.0.1" }
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
            guard Self.isIPv6(host) else { return nil }
        } else {
            guard Self.isIPv4(host) else { return nil }
        }
        self.host = host
        self.port = Int(port)
    }

    /// True where only this machine can connect.
    package var isLoopback: Bool { host == "::1" || host.hasPrefix("127.") }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// True for an IPv4 address in its dotted form (inet_pton(3)).
    package static func isIPv4(_ text: String) -> Bool {
        var address = in_addr()
        return inet_pton(AF_INET, text, &address) == 1
    }

    /// True for an IPv6 address (inet_pton(3)).
    package static func isIPv6(_ text: String) -> Bool {
        var address = in6_addr()
        return inet_pton(AF_INET6, text, &address) == 1
    }
}
