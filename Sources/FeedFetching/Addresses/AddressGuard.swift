package import FeedConfiguration
import FeedModel
import Foundation

/// Refuses addresses of private networks that a response of a public host names.
///
/// A name is checked twice: all of its addresses before a connection is made, and the address of the connection before
/// the request is written, because a lookup may give other addresses by then.
struct AddressGuard {
    /// The error of a request that a response would lead to a private address.
    struct Refusal: Error, CustomStringConvertible {
        var description: String

        init(_ provenance: AddressProvenance, to origin: Origin, _ address: IPAddress) {
            let kind = "\(address.scope)"
            let shown = origin.host.contains("\(address)") ? kind : "\(address), \(kind)"
            description =
                "\(provenance.namer) leads to \(origin) (\(shown)), which is refused: \(provenance.advice)"
        }
    }

    let names: any NameLookup

    /// Checks the addresses of a URL's host before a request.
    ///
    /// - Parameters:
    ///   - former: the URL of the host whose response names this one, if the provenance lacks that host's address. It is
    ///     looked up only if this one's address is private.
    ///   - isProxied: true if a proxy resolves the name.
    /// - Returns: the provenance, with the addresses that were looked up.
    /// - Throws: ``Refusal``, or `CancellationError`.
    func checked(
        _ url: URL, _ provenance: AddressProvenance?, namedBy former: URL?, isProxied: Bool
    ) async throws -> AddressProvenance? {
        // For the same server, the check of the connection suffices.
        guard var provenance, url.origin != provenance.origin || isProxied else { return provenance }
        for address in try await addresses(of: url, isProxied: isProxied) where !provenance.admits(address) {
            if provenance.from == nil, let former {
                provenance.from = try await addresses(of: former, isProxied: isProxied).first
                if provenance.admits(address) { continue }
            }
            throw Refusal(provenance, to: url.origin, address)
        }
        return provenance
    }

    /// Returns the addresses of a URL's host; none for a name that the proxy resolves.
    func addresses(of url: URL, isProxied: Bool) async throws -> [IPAddress] {
        guard let host = url.host else { return [] }
        if let address = IPAddress(literal: host) { return [address] }
        guard isProxied else { return try await names.addresses(of: host) }
        // These names always stand for this machine (RFC 6761, section 6.3).
        let name =
            host.lowercased().hasSuffix(".") ? String(host.lowercased().dropLast()) : host.lowercased()
        let isLocal = name == "localhost" || name.hasSuffix(".localhost")
        return isLocal ? [IPAddress(bytes: [127, 0, 0, 1])].compactMap(\.self) : []
    }
}

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
