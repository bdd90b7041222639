/// Whether the values met so far all differ, by their hashes.
///
/// The first 100,000 values are remembered, and every later one is compared with those; two later ones that are alike
/// stay unnoticed, so beyond that number the answer is what was seen. Once two values are alike nothing is remembered
/// any more: only columns that could be keys cost memory.
struct DistinctValues {
    static let limit = 100_000

    private(set) var allDiffer = true
    /// Whether there were values that later ones are not compared with.
    private(set) var isPartial = false
    private var hashes: Set<UInt64> = []

    mutating func insert(_ hash: UInt64) {
        guard allDiffer else { return }
        if hashes.count < Self.limit {
            if !hashes.insert(hash).inserted { giveUp() }
        } else if hashes.contains(hash) {
            giveUp()
        } else {
            isPartial = true
        }
    }

    /// What comes next may be like what came before: the children of another element, say.
    mutating func startOver() {
        // Emptying a set costs its capacity, which is too much for a set that was large once.
        if hashes.count > 64 { hashes = [] } else { hashes.removeAll(keepingCapacity: true) }
    }

    mutating func giveUp() {
        allDiffer = false
        hashes = []
    }

    mutating func formUnion(_ other: DistinctValues) {
        guard allDiffer, other.allDiffer else { return giveUp() }
        isPartial = isPartial || other.isPartial
        for hash in other.hashes { insert(hash) }
    }
}
