import Foundation
import HeapModule

/// Sources ordered by their due times. A rescheduled or removed source leaves its former entry, which is skipped later.
/// There are never more such entries than sources and 64.
struct DueQueue {
    private struct Entry: Comparable {
        var due: Date
        /// Distinguishes the entries of a source.
        var id: Int
        var source: String

        static func < (one: Entry, other: Entry) -> Bool { (one.due, one.id) < (other.due, other.id) }
    }

    private var heap = Heap<Entry>()
    private var current: [String: Entry] = [:]
    private var lastID = 0

    var isEmpty: Bool { current.isEmpty }

    /// The number of entries, including those that are skipped.
    var entryCount: Int { heap.count }

    mutating func schedule(_ source: String, at due: Date) {
        lastID += 1
        let entry = Entry(due: due, id: lastID, source: source)
        current[source] = entry
        heap.insert(entry)
        dropManyStale()
    }

    /// Shifts all due times by a number of seconds, except those for which `kept` returns another. Sources that are due
    /// at once (`distantPast`) or never stay so.
    mutating func shift(by seconds: TimeInterval, kept: (_ source: String, _ due: Date) -> Date? = { _, _ in nil }) {
        let former = current.values.sorted()
        heap = Heap()
        current = [:]
        for entry in former {
            let isFixed = entry.due == .distantPast || entry.due == .distantFuture
            schedule(entry.source, at: isFixed ? entry.due : kept(entry.source, entry.due) ?? entry.due + seconds)
        }
    }

    mutating func remove(_ source: String) {
        current[source] = nil
        dropManyStale()
    }

    /// Returns the time at which the next source is due.
    mutating func nextDue() -> Date? {
        dropFirstStale()
        return heap.min?.due
    }

    /// Removes and returns the next source if it is due by now.
    mutating func popDue(by now: Date) -> String? {
        dropFirstStale()
        guard let first = heap.min, first.due <= now else { return nil }
        heap.removeMin()
        current[first.source] = nil
        return first.source
    }

    private func isStale(_ entry: Entry) -> Bool { current[entry.source]?.id != entry.id }

    private mutating func dropFirstStale() {
        while let first = heap.min, isStale(first) { heap.removeMin() }
    }

    private mutating func dropManyStale() {
        guard heap.count > 2 * current.count + 64 else { return }
        heap = Heap(heap.unordered.filter { !isStale($0) })
    }
}
