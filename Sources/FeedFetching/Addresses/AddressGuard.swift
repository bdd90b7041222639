import FeedDeclarations
import Foundation

/// Refuses what responses name: addresses that are not public, where a public host has led to them.
///
/// What a name stands for is looked at twice. Before anything is connected, all its addresses are checked; and the address
/// that a connection has is checked before the request is written, as a name may have other addresses by then.
struct AddressGuard {
    /// A request was about to be sent to an address to which it must not be led.
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

    /// Checks an address before it is asked.
    ///
    /// - Parameters:
    ///   - former: the URL of the host that has named this one, where the provenance lacks that host's address. It is
    ///     looked up only where that decides: most responses name public addresses.
    ///   - isProxied: true where a proxy looks the name up.
    /// - Returns: the provenance, with what was looked up.
    /// - Throws: ``Refusal``, or `CancellationError`.
    func checked(
        _ url: URL, _ provenance: AddressProvenance?, namedBy former: URL?, isProxied: Bool
    ) async throws -> AddressProvenance? {
        // The same server once more: the connection is checked.
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

    /// Returns the addresses of a URL's host; none for a name that the proxy is to look up.
    func addresses(of url: URL, isProxied: Bool) async throws -> [IPAddress] {
        guard let host = url.host else { return [] }
        if let address = IPAddress(literal: host) { return [address] }
        guard isProxied else { return try await names.addresses(of: host) }
        // These names never stand for anything else (RFC 6761, section 6.3).
        let name =
            host.lowercased().hasSuffix(".") ? String(host.lowercased().dropLast()) : host.lowercased()
        let isLocal = name == "localhost" || name.hasSuffix(".localhost")
        return isLocal ? [IPAddress(bytes: [127, 0, 0, 1])].compactMap(\.self) : []
    }
}
