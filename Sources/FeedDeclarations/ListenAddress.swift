/// An address and a port at which connections are accepted: `127.0.0.1:8090`, `[::1]:8090`, `0.0.0.0:8090`.
package struct ListenAddress: Sendable, Equatable, CustomStringConvertible {
    private let address: IPAddress
    /// 0 for any port that is free.
    package let port: Int

    /// - Returns: nil for a text that is no IP address, or `localhost`, with a port.
    package init?(_ text: String) {
        // An IPv6 address has colons of its own, so it stands in brackets (RFC 3986, section 3.2.2).
        guard let match = text.wholeMatch(of: /(\[[0-9A-Fa-f:.]+\]|[0-9.]+|localhost):([0-9]{1,5})/),
            let port = UInt16(match.2),
            let address = IPAddress(host: match.1 == "localhost" ? "127.0.0.1" : String(match.1))
        else { return nil }
        self.address = address
        self.port = Int(port)
    }

    /// Without brackets.
    package var host: String { "\(address)" }

    /// True if only this machine can connect.
    package var isLoopback: Bool { address.isLoopback }

    package var description: String { atPort(nil) }

    /// Returns the text for the port that is in use, where the declared one is 0.
    package func atPort(_ bound: Int?) -> String {
        host.contains(":") ? "[\(host)]:\(bound ?? port)" : "\(host):\(bound ?? port)"
    }
}
