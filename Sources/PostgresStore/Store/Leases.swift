import FeedStores
import Foundation
import Ledger
import StoreSQL
import Locking
import PostgresClient

/// The leases of this store's sources, as far as this process knows.
final class Leases: Sendable {
    private struct Entry {
        /// nil while it is being claimed.
        var number: Int64?
        /// The uptime until which no other daemon can take it. Never later than the store's.
        var until: Duration?
    }

    /// The seconds for which a lease holds without being renewed, by the server's clock.
    static let seconds = 20

    private let start = ContinuousClock.now

    /// Identifies this store among those of other processes, and among others in this process.
    let holder = UUID().uuidString

    /// By the source.
    private let entries = Mutex<[String: Entry]>([:])

    /// The time since the store was opened.
    var uptime: Duration { ContinuousClock.now - start }

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
    func lease(of source: String) -> Lease? {
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
    var sources: [String] { entries.withLock { $0.filter { $0.value.number != nil }.keys.sorted() } }
}

extension Leases: LeaseTerms {
    /// The seconds for which the lease on a hook holds without being renewed, by the server's clock.
    private static let hookSeconds = 15

    var leaseEnd: String { Self.end(after: Self.seconds) }
    var hookEnd: String { Self.end(after: Self.hookSeconds) }

    private static func end(after seconds: Int) -> String { "clock_timestamp() + interval '\(seconds) seconds'" }

    /// Another daemon may have a newer file, which declares the hook.
    var isHookUnused: SQLText {
        """
        coalesce(held_until < clock_timestamp(), true) AND NOT EXISTS (
            SELECT 1 FROM tributary_daemon
            WHERE id <> \(bind: holder) AND seen_at > clock_timestamp() - interval '\(Int(DaemonRecord.secondsToLive)) seconds')
        """
    }
}

extension PostgresConnection {
    /// - Parameter leases: nil if no lease is needed.
    func ledger(_ leases: Leases? = nil) -> Ledger { Ledger(self, PostgresLedgerDialect(), leases: leases) }
}
