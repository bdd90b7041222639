import Foundation

/// Sources ordered by their due times, in a binary heap. A rescheduled source leaves its former entry, which is skipped
/// later.
struct DueQueue {
    private struct Entry {
        var due: Date
        var source: String
    }

    private var heap: [Entry] = []
    private var current: [String: Date] = [:]

    var isEmpty: Bool { current.isEmpty }

    mutating func schedule(_ source: String, at due: Date) {
        current[source] = due
        heap.append(Entry(due: due, source: source))
        var child = heap.count - 1
        while child > 0, heap[child].due < heap[(child - 1) / 2].due {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Shifts all due times by a number of seconds, except those for which `kept` returns another. Sources that are due
    /// at once (`distantPast`) or never stay so.
    mutating func shift(by seconds: TimeInterval, kept: (_ source: String, _ due: Date) -> Date? = { _, _ in nil }) {
        let former = current
        heap = []
        current = [:]
        for (source, due) in former {
            let isFixed = due == .distantPast || due == .distantFuture
            schedule(source, at: isFixed ? due : kept(source, due) ?? due + seconds)
        }
    }

    mutating func remove(_ source: String) { current[source] = nil }

    /// Returns the time at which the next source is due.
    mutating func nextDue() -> Date? {
        dropStale()
        return heap.first?.due
    }

    /// Removes and returns the next source if it is due by now.
    mutating func popDue(by now: Date) -> String? {
        dropStale()
        guard let first = heap.first, first.due <= now else { return nil }
        removeFirst()
        current[first.source] = nil
        return first.source
    }

    private mutating func dropStale() {
        while let first = heap.first, current[first.source] != first.due { removeFirst() }
    }

    private mutating func removeFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var smallest = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < heap.count && heap[child].due < heap[smallest].due {
                smallest = child
            }
            guard smallest != parent else { return }
            heap.swapAt(parent, smallest)
            parent = smallest
        }
    }
}
