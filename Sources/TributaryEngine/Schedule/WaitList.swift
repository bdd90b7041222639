import DequeModule
import Foundation

/// Waiting sources with the start of their wait, added roughly in the order of their due times.
struct WaitList {
    private var order: Deque<(name: String, since: Date)> = []
    private var current: [String: Date] = [:]

    var count: Int { current.count }

    /// The start of the longest wait.
    var longest: Date? {
        mutating get {
            // Sources that no longer wait are removed lazily.
            while let first = order.first, current[first.name] != first.since { order.removeFirst() }
            return order.first?.since
        }
    }

    /// Adds a source, unless it waits already.
    mutating func add(_ name: String, since: Date) {
        guard current[name] == nil else { return }
        current[name] = since
        // Removes started sources, so that a long wait does not keep their entries.
        if order.count > 2 * current.count + 64 { order.removeAll { current[$0.name] != $0.since } }
        order.append((name, since))
    }

    mutating func remove(_ name: String) { current[name] = nil }
}
