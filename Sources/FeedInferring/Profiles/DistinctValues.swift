/// A check by hashes that all values met so far differ.
///
/// The first 100,000 values are remembered, and every later one is compared with those. Two equal later ones are not
/// noticed: they are found when the document is read again (``RecordCounter``). Once two values are equal, nothing is
/// remembered any more: only columns that could be keys take memory.
struct DistinctValues {
    static let limit = 100_000

    private(set) var allDiffer = true
    private var hashes: Set<UInt64> = []

    mutating func insert(_ hash: UInt64) {
        guard allDiffer else { return }
        if hashes.count < Self.limit {
            if !hashes.insert(hash).inserted { giveUp() }
        } else if hashes.contains(hash) {
            giveUp()
        }
    }

    /// Forgets the values so far: the next ones may equal them, such as those in the children of another element.
    mutating func startOver() {
        // The time to empty a set grows with its capacity, which is too much for a set that was once large.
        if hashes.count > 64 { hashes = [] } else { hashes.removeAll(keepingCapacity: true) }
    }

    mutating func giveUp() {
        allDiffer = false
        hashes = []
    }

    mutating func formUnion(_ other: DistinctValues) {
        guard allDiffer, other.allDiffer else { return giveUp() }
        for hash in other.hashes { insert(hash) }
    }
}
