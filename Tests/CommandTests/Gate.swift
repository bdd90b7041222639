import Foundation
import Synchronization

/// Holds threads back until a test opens it.
final class Gate: Sendable {
    private let condition = NSCondition()
    private let state = Mutex((isOpen: false, isAwaited: false))

    func wait() {
        condition.lock()
        state.withLock { $0.isAwaited = true }
        while !state.withLock({ $0.isOpen }) { condition.wait() }
        condition.unlock()
    }

    func open() {
        condition.lock()
        state.withLock { $0.isOpen = true }
        condition.broadcast()
        condition.unlock()
    }

    func untilSomebodyWaits() async {
        while !state.withLock({ $0.isAwaited }) { await Task.yield() }
    }
}
