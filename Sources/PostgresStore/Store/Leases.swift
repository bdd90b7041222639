import Foundation
import Synchronization

/// The leases by which this store may run sources, as far as this process knows.
final class Leases: Sendable {
    struct Lease: Sendable, Equatable {
        var holder: String
        var number: Int64
    }

    /// The seconds for which a lease holds without being renewed, by the server's clock.
    static let seconds = 60

    /// Tells this store from those of other processes, and from others in this process.
    let holder = UUID().uuidString

    /// The number of each lease by its source; nil while it is being claimed.
    private let numbers = Mutex<[String: Int64?]>([:])

    /// Takes note that a source is being claimed.
    ///
    /// - Returns: false where it is held or being claimed already.
    func begin(_ source: String) -> Bool {
        numbers.withLock { numbers in
            guard numbers[source] == nil else { return false }
            numbers[source] = .some(nil)
            return true
        }
    }

    /// - Parameter number: nil where the claim failed.
    func end(_ source: String, _ number: Int64?) {
        numbers.withLock { $0[source] = number.map { .some($0) } }
    }

    /// - Returns: false where the lease had been given up before.
    func remove(_ source: String, _ number: Int64) -> Bool {
        numbers.withLock { numbers in
            guard numbers[source] == .some(number) else { return false }
            numbers[source] = nil
            return true
        }
    }

    /// Returns the lease under which a source is run; nil where it is run without one.
    func lease(of source: String) -> Lease? {
        (numbers.withLock { $0[source] } ?? nil).map { Lease(holder: holder, number: $0) }
    }

    /// The sources with a lease.
    var sources: [String] { numbers.withLock { $0.filter { $0.value != nil }.keys.sorted() } }
}
