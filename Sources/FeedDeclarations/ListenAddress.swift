/// An address and a port at which connections are accepted: `127.0.0.1:8090`, `[::1]:8090`, `0.0.0.0:8090`.
package struct ListenAddress: Sendable, Equatable, CustomStringConvertible {
    private let address: IPAddress
    /// 0 for any port that is free.
    package let port: Int

    /// - Returns: nil for a text that is no IP address, or `localhost`, with a port.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        let host = text[..<colon]
        // An IPv6 address has colons of its own, so it stands in brackets (RFC 3986, section 3.2.2).
        guard !host.contains(":") || host.hasPrefix("["),
            let address = IPAddress(literal: host == "localhost" ? "127.0.0.1" : String(host))
        else { return nil }
        self.address = address
        self.port = Int(port)
    }

    /// Without brackets.
    package var host: String { "\(address)" }

    /// True where only this machine can connect.
    package var isLoopback: Bool { address.isLoopback }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
