package import Foundation
import Synchronization

/// Which tables' histories a commit looks through for entries of runs that are forgotten.
///
/// All of them are looked through when a store is opened, and every ten minutes of a daemon's time from then on, whether their
/// tables change or not. One commit looks at a few; a history from which more is to be deleted is looked at again by the next
/// commit.
package final class HistoryForgetting: Sendable {
    private struct State {
        /// What is yet to be looked at, the next one last.
        var histories: [String] = []
        /// The time before which runs are forgotten, when all are looked at again.
        var next = Date.distantPast
    }

    /// The most histories at which one commit looks.
    private static let historiesAtOnce = 16
    private static let pause = 600.0

    private let state = Mutex(State())

    package init() {}

    /// Returns the names of the next histories.
    ///
    /// - Parameters:
    ///   - before: the time before which runs are forgotten.
    ///   - all: returns the names of all histories, also of those that have ended.
    package func next(before: Date, _ all: () throws -> [String]) rethrows -> [String] {
        let isDue = state.withLock { state in
            guard before > .distantPast, state.histories.isEmpty, before >= state.next else { return false }
            state.next = before + Self.pause
            return true
        }
        let new = isDue ? try all() : []
        return state.withLock { state in
            state.histories += new.reversed()
            defer { state.histories.removeLast(min(Self.historiesAtOnce, state.histories.count)) }
            return state.histories.suffix(Self.historiesAtOnce).reversed()
        }
    }

    /// Notes that there is more to be deleted from a history.
    package func isUnfinished(_ history: String) {
        state.withLock { state in
            if !state.histories.contains(history) { state.histories.insert(history, at: 0) }
        }
    }
}
