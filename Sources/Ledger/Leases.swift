import FeedStores
import Foundation
import Locking
import StoreSQL

/// The leases by which this process may run sources, as far as this process knows.
package final class Leases: Sendable {
    private struct Entry {
        /// nil while it is being claimed.
        var number: Int64?
        /// The uptime until which nobody else can have taken it. It never is later than the store's.
        var until: Duration?
    }

    /// The seconds for which a lease on a source holds without being renewed, by the store's clock.
    package static let seconds = 20
    /// A quarter of a lease: three renewals may fail before it ends.
    package static let secondsBetweenRenewals = Double(seconds) / 4
    /// The seconds for which the lease on a hook holds without being renewed, by the store's clock.
    static let hookSeconds = 15

    /// Tells this store from those of other processes, and from others in this process.
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

    /// Takes note that a source is being claimed.
    ///
    /// - Returns: false where it is held or being claimed already.
    func begin(_ source: String) -> Bool {
        entries.withLock { entries in
            guard entries[source] == nil else { return false }
            entries[source] = Entry()
            return true
        }
    }

    /// - Parameters:
    ///   - number: nil where the claim failed.
    ///   - asked: the uptime before the store was asked for it.
    func end(_ source: String, _ number: Int64?, asked: Duration) {
        entries.withLock {
            $0[source] = number.map { Entry(number: $0, until: asked + .seconds(Self.seconds)) }
        }
    }

    /// - Parameter asked: the uptime before the store was asked to renew it.
    func renew(_ source: String, asked: Duration) {
        entries.withLock { $0[source]?.until = asked + .seconds(Self.seconds) }
    }

    /// - Returns: false where the lease had been given up before.
    func remove(_ source: String, _ number: Int64) -> Bool {
        entries.withLock { entries in
            guard entries[source]?.number == number else { return false }
            entries[source] = nil
            return true
        }
    }

    /// Returns the lease under which a source is run; nil where it is run without one.
    package func lease(of source: String) -> Lease? {
        entries.withLock { $0[source]?.number }.map { Lease(holder: holder, number: $0) }
    }

    /// True as long as nobody else can have taken a lease.
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

    package init(holder: String, number: Int64) {
        self.holder = holder
        self.number = number
    }

    /// The condition that a row of `tributary_source`, `s`, still holds the lease.
    var isHeld: SQLText { "s.holder = \(bind: holder) AND s.lease = \(bind: number)" }
}
