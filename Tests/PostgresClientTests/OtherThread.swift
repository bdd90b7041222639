import Foundation
import Synchronization

/// A thread beside the test's own, which may block as it likes.
final class OtherThread: Sendable {
    private let failure = Mutex<(any Error)?>(nil)
    private let done = DispatchSemaphore(value: 0)

    init(_ body: @escaping @Sendable () throws -> Void) {
        Thread.detachNewThread { [self] in
            do { try body() } catch { failure.withLock { $0 = error } }
            done.signal()
        }
    }

    /// - Throws: what the thread threw.
    func join() throws {
        done.wait()
        if let failure = failure.withLock({ $0 }) { throw failure }
    }
}
