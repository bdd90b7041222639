import DequeModule
import Foundation

/// Sources that wait, and since when. They come about in the order in which they are due.
struct WaitList {
    private var order: Deque<(name: String, since: Date)> = []
    private var current: [String: Date] = [:]

    var count: Int { current.count }

    /// Since when the source waits that was added first.
    var longest: Date? {
        mutating get {
            // Those that wait no more are dropped when they come up.
            while let first = order.first, current[first.name] != first.since { order.removeFirst() }
            return order.first?.since
        }
    }

    /// Adds a source, unless it waits already.
    mutating func add(_ name: String, since: Date) {
        guard current[name] == nil else { return }
        current[name] = since
        // A source that waits for hours must not keep all that have been started meanwhile.
        if order.count > 2 * current.count + 64 { order.removeAll { current[$0.name] != $0.since } }
        order.append((name, since))
    }

    mutating func remove(_ name: String) { current[name] = nil }
}
