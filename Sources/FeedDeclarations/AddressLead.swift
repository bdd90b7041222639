import Foundation

/// What led to an address that the source does not declare: a response named it. A response of a public host leads to
/// public addresses only; one from another address also to that address.
package struct AddressLead: Sendable, Equatable {
    /// What named the address, to be shown.
    package var namer: String
    /// The origin that answered with the name, and the address it has; nil where somebody else connected to it.
    package var origin: String
    package var from: IPAddress?

    package init(namer: String, origin: String, from: IPAddress?) {
        self.namer = namer
        self.origin = origin
        self.from = from
    }

    /// The name of the host that answered.
    private var host: Substring {
        let place = origin.range(of: "://").map { origin[$0.upperBound...] } ?? origin[...]
        return place.lastIndex(of: ":").map { place[..<$0] } ?? place
    }

    package func admits(_ address: IPAddress) -> Bool {
        address.notPublic == nil || from.map(address.isOfSameHost) ?? false
    }

    /// Returns true where a host may have any address: it is the one that answered, and is not public anyway.
    package func admitsAll(of host: String?) -> Bool {
        from?.notPublic != nil && host.map { $0.lowercased() == self.host } ?? false
    }
}
