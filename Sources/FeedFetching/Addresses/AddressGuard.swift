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

        init(_ lead: AddressLead, to place: String, _ address: IPAddress) {
            let kind = address.notPublic ?? "public"
            let shown = place.contains("\(address)") ? kind : "\(address), \(kind)"
            description =
                "\(lead.namer) leads to \(place) (\(shown)), which is refused: a response may name public addresses, and "
                + "the one it came from; if that is meant, ask that address itself, or set allow_private = true for the "
                + "source"
        }
    }

    let names: any NameLookup

    /// Checks an address before it is asked.
    ///
    /// - Parameters:
    ///   - former: the address of the host that has named this one, where the lead does not say what address it has. It
    ///     is looked up only where that decides: most leads are to public addresses.
    ///   - isProxied: true where a proxy looks the name up.
    /// - Returns: the lead, with what was looked up.
    /// - Throws: ``Refusal``, or `CancellationError`.
    func checked(
        _ url: URL, _ lead: AddressLead?, namedBy former: URL?, isProxied: Bool
    ) async throws -> AddressLead? {
        // The same server once more: the connection is checked.
        guard var lead, url.origin != lead.origin || isProxied else { return lead }
        for address in try await addresses(of: url, isProxied: isProxied) where !lead.admits(address) {
            if lead.from == nil, let former {
                lead.from = try await addresses(of: former, isProxied: isProxied).first
                if lead.admits(address) { continue }
            }
            throw Refusal(lead, to: url.origin, address)
        }
        return lead
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
