import FeedModel
import Locking

/// The first error on the scratch database's queue. Batches queued behind it are not written.
final class FirstError: Sendable {
    private let error = Mutex<(any Error)?>(nil)

    var isSet: Bool { error.withLock { $0 != nil } }

    func set(_ new: any Error) { error.withLock { $0 = $0 ?? new } }

    func check() throws {
        if let error = error.withLock({ $0 }) { throw StoreError(scratch: error) }
    }
}
