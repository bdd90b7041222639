/// A check by hashes that all values met so far differ.
///
/// The first 100,000 values are remembered, as long as the budget of all columns lasts, and every later one is compared
/// with those. Two equal later ones are not noticed: they are found when the document is read again
/// (``RecordCounter``). Once two values are equal, nothing is remembered any more: only columns that could be keys take
/// memory.
struct DistinctValues {
    static let limit = 100_000
    /// The most values of all columns of a document that are remembered at a time: some 30 MB.
    static let limitOfAll = 1_000_000

    private(set) var allDiffer: Bool
    private var hashes: Set<UInt64> = []

    init(allDiffer: Bool = true) { self.allDiffer = allDiffer }

    mutating func insert(_ hash: UInt64, _ budget: DigestSet.Budget) {
        guard allDiffer else { return }
        guard hashes.count < Self.limit, budget.isLeft else {
            if hashes.contains(hash) { giveUp(budget) }
            return
        }
        if hashes.insert(hash).inserted { budget.take() } else { giveUp(budget) }
    }

    /// Forgets the values so far: the next ones may equal them, such as those in the children of another element.
    mutating func startOver(_ budget: DigestSet.Budget) {
        budget.giveBack(hashes.count)
        // The time to empty a set grows with its capacity, which is too much for a set that was once large.
        if hashes.count > 64 { hashes = [] } else { hashes.removeAll(keepingCapacity: true) }
    }

    mutating func giveUp(_ budget: DigestSet.Budget) {
        allDiffer = false
        budget.giveBack(hashes.count)
        hashes = []
    }

    /// Adds a set of values that is complete.
    mutating func formUnion(_ other: DistinctValues) {
        allDiffer = allDiffer && other.allDiffer && hashes.isDisjoint(with: other.hashes)
        if allDiffer, hashes.count < Self.limit { hashes.formUnion(other.hashes) }
        if !allDiffer { hashes = [] }
    }
}
