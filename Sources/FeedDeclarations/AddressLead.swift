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

    /// What a value leads to that stood in the store: any server may have sent it.
    package static func unknown(_ namer: String) -> AddressLead { AddressLead(namer: namer, origin: "", from: nil) }

    /// Returns what several lead to together: where they are servers at several addresses, no address but public ones.
    package func combined(with other: AddressLead) -> AddressLead {
        AddressLead(
            namer: namer, origin: origin == other.origin ? origin : "", from: from == other.from ? from : nil)
    }

    /// The name of the host that answered.
    private var host: String? { URL(string: origin)?.host }

    package func admits(_ address: IPAddress) -> Bool {
        address.notPublic == nil || from.map(address.isOfSameHost) ?? false
    }

    /// Returns true where a host may have any address: it is the one that answered, and is not public anyway.
    package func admitsAll(of host: String?) -> Bool {
        from?.notPublic != nil && host.map { $0.lowercased() == self.host } ?? false
    }
}
