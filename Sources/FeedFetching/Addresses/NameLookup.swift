import FeedModel
package import FeedConfiguration
import Foundation

/// Finds the addresses of a host's name.
package protocol NameLookup: Sendable {
    /// Returns a host's addresses; none if it has none.
    ///
    /// - Throws: `CancellationError`.
    func addresses(of host: String) async throws -> [IPAddress]
}

/// The resolver of this machine: its files, DNS, and other configured services (getaddrinfo(3)).
package struct SystemNames: NameLookup {
    package init() {}

    /// A name server that does not answer blocks a thread for up to 30 seconds.
    package func addresses(of host: String) async throws -> [IPAddress] {
        try await BlockingWork.run { _ in Self.lookUp(host) }
    }

    private static func lookUp(_ host: String) -> [IPAddress] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var addresses: [IPAddress] = []
        var entry = list
        while let info = entry {
            entry = info.pointee.ai_next
            if let found = info.pointee.ai_addr.flatMap({ IPAddress($0) }) { addresses.append(found) }
        }
        return addresses
    }
}

extension IPAddress {
    /// Reads the address of a socket; nil for other protocols than IPv4 and IPv6.
    init?(_ address: UnsafeMutablePointer<sockaddr>) {
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            self.init(
                bytes: address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { pointer in
                    withUnsafeBytes(of: pointer.pointee.sin_addr) { Array($0) }
                })
        case AF_INET6:
            self.init(
                bytes: address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { pointer in
                    withUnsafeBytes(of: pointer.pointee.sin6_addr) { Array($0) }
                })
        default: return nil
        }
    }
}
