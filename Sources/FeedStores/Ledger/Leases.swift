import Foundation
import FeedModel

/// The leases of this process's sources, as far as this process knows.
package final class Leases: Sendable {
    private struct Entry {
        /// nil while it is being claimed.
        var number: Int64?
        /// The uptime until which no other daemon can take it. Never later than the store's.
        var until: Duration?
    }

    /// The seconds for which a lease on a source holds without being renewed, by the store's clock.
    package static let seconds = 20
    /// A quarter of a lease: three renewals may fail before it ends.
    package static let secondsBetweenRenewals = Double(seconds) / 4
    /// The seconds for which the lease on a hook holds without being renewed, by the store's clock.
    static let hookSeconds = 15

    /// Identifies this process among the others, and this store among others in this process.
    package let holder: String
    private let time: @Sendable () -> Duration
    /// By the source.
    private let entries = Mutex<[String: Entry]>([:])

    /// - Parameter uptime: the time since some fixed moment.
    package init(holder: String = UUID().uuidString, uptime: @escaping @Sendable () -> Duration) {
        self.holder = holder
        time = uptime
    }

    /// - Parameter start: the moment from which the uptime is counted.
    package convenience init(since start: ContinuousClock.Instant) {
        self.init(uptime: { ContinuousClock.now - start })
    }

    package var uptime: Duration { time() }

    /// Notes that a source is being claimed.
    ///
    /// - Returns: false if it is already leased or being claimed.
    func begin(_ source: String) -> Bool {
        entries.withLock { entries in
            guard entries[source] == nil else { return false }
            entries[source] = Entry()
            return true
        }
    }

    /// - Parameters:
    ///   - number: nil if the claim failed.
    ///   - asked: the uptime before the claim was sent to the store.
    func end(_ source: String, _ number: Int64?, asked: Duration) {
        entries.withLock {
            $0[source] = number.map { Entry(number: $0, until: asked + .seconds(Self.seconds)) }
        }
    }

    /// - Parameter asked: the uptime before the store was asked to renew it.
    func renew(_ source: String, asked: Duration) {
        entries.withLock { $0[source]?.until = asked + .seconds(Self.seconds) }
    }

    /// - Returns: false if the lease had been given up before.
    func remove(_ source: String, _ number: Int64) -> Bool {
        entries.withLock { entries in
            guard entries[source]?.number == number else { return false }
            entries[source] = nil
            return true
        }
    }

    /// Returns the lease of a running source; nil if it runs without one.
    package func lease(of source: String) -> Lease? {
        entries.withLock { $0[source]?.number }.map { Lease(holder: holder, number: $0) }
    }

    /// True while no other daemon can have taken a lease.
    func isInForce(_ source: String, _ number: Int64) -> Bool {
        entries.withLock { entries in
            guard let entry = entries[source], entry.number == number, let until = entry.until else { return false }
            return uptime < until
        }
    }

    /// The sources with a lease.
    package var sources: [String] { entries.withLock { $0.filter { $0.value.number != nil }.keys.sorted() } }
}

/// The lease on a source, as its row in `tributary_source` holds it.
package struct Lease: Sendable, Equatable {
    package var holder: String
    /// The fencing token: it grows with each lease of the source.
    package var number: Int64

    /// The condition that a row of `tributary_source`, `s`, still holds the lease.
    var isHeld: SQLText { "s.holder = \(bind: holder) AND s.lease = \(bind: number)" }

    /// The condition that nobody has taken the source since the lease was taken, even if it was given up.
    var isLast: SQLText { "coalesce(s.holder, \(bind: holder)) = \(bind: holder) AND s.lease = \(bind: number)" }
}
