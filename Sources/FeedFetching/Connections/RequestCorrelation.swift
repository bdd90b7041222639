import FeedConfiguration
import NIOCore
import FeedModel

/// Correlates requests with their connections, which async-http-client does not expose. A request carries the number of
/// its entry in a header, which the connection's handler removes before it sends the request.
final class RequestCorrelation: Sendable {
    /// A request on its way to a connection.
    final class Entry: Sendable {
        let number: Int
        private let clock: ExchangeClock?
        /// The request's origin, and its provenance; nil if its address may be any.
        private let origin: Origin
        private let provenance: AddressProvenance?
        private let sent = Mutex((isSent: false, address: IPAddress?.none))

        fileprivate init(
            _ number: Int, _ clock: ExchangeClock?, _ origin: Origin, _ provenance: AddressProvenance?
        ) {
            self.number = number
            self.clock = clock
            self.origin = origin
            self.provenance = provenance
        }

        /// True once a connection has begun to send the request.
        var isSent: Bool { sent.withLock { $0.isSent } }

        /// The address to which it was sent; nil before that, and for other protocols than IPv4 and IPv6.
        var address: IPAddress? { sent.withLock { $0.address } }

        fileprivate func send(to address: IPAddress?) throws(AddressGuard.Refusal) {
            if let provenance, let address, !provenance.admits(address) {
                throw AddressGuard.Refusal(provenance, to: origin, address)
            }
            sent.withLock { $0 = (true, address) }
            clock?.isSent()
        }
    }

    static let header = "tributary-correlation"

    private struct State {
        var entries: [Int: Entry] = [:]
        var last = 0
    }

    private let state = Mutex(State())

    func add(for clock: ExchangeClock?, to origin: Origin, provenance: AddressProvenance?) -> Entry {
        state.withLock { state in
            state.last &+= 1
            let entry = Entry(state.last, clock, origin, provenance)
            state.entries[entry.number] = entry
            return entry
        }
    }

    /// Removes the entry of a request that has ended.
    func remove(_ entry: Entry) { state.withLock { $0.entries[entry.number] = nil } }

    /// Notes that a connection is about to send the request with this number.
    ///
    /// - Throws: ``AddressGuard/Refusal`` if the request must not go to the connection's address. No byte of it has been
    ///   sent, and none may be.
    func send(_ number: String, to address: IPAddress?) throws(AddressGuard.Refusal) {
        guard let number = Int(number), let entry = state.withLock({ $0.entries[number] }) else { return }
        try entry.send(to: address)
    }
}
