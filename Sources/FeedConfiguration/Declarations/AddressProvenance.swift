import Foundation

/// Who named an address that the source does not declare: a response did. A response of a public host may name public
/// addresses; one from a private address may name that address, too.
package struct AddressProvenance: Sendable, Equatable {
    /// What named the address, to be shown.
    package var namer: String
    /// The origin that answered with the name; nil where it is unknown.
    package var origin: Origin?
    /// The address of that origin; nil where a proxy connected to it.
    package var from: IPAddress?
    /// What to do where an address is meant that is refused.
    package var advice =
        "a response may name public addresses, and the one it came from; if that is meant, ask that address itself, or set "
        + "allow_private = true for the source"

    package init(namer: String, origin: Origin?, from: IPAddress?) {
        self.namer = namer
        self.origin = origin
        self.from = from
    }

    /// The provenance of a value of the store: any server may have sent it.
    package static func unknown(_ namer: String) -> AddressProvenance {
        AddressProvenance(namer: namer, origin: nil, from: nil)
    }

    /// Returns the provenance of an address that several responses have named together: if their addresses differ,
    /// only public addresses are admitted.
    package func combined(with other: AddressProvenance) -> AddressProvenance {
        AddressProvenance(
            namer: namer, origin: origin == other.origin ? origin : nil, from: from == other.from ? from : nil)
    }

    package func admits(_ address: IPAddress) -> Bool {
        address.scope.isGlobal || from.map(address.isOfSameHost) ?? false
    }

    /// Returns true where a host may have any address: it is the one that answered, and is not public anyway.
    package func admitsAll(of other: Origin) -> Bool {
        from.map { !$0.scope.isGlobal } ?? false && origin.map { $0.host == other.host } ?? false
    }
}
