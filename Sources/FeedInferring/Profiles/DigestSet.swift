/// A set of 64-bit digests of values, which decides whether all of them differ. Once two are equal, nothing is remembered
/// any more: only columns that could be keys take memory.
///
/// Among four million different values, two have the same digest with a probability of one in 10⁶. They then count as
/// equal, so a possible key is not proposed; the reverse never happens.
struct DigestSet {
    /// The digests that all sets of one count may still take.
    final class Budget {
        /// The most digests at a time: some 100 MB.
        static let limit = 4_000_000
        /// The most digests of all samples of a document at a time: some 30 MB.
        static let limitOfSamples = 1_000_000

        // `@exclusivity(unchecked)`: one thread changes it, at each value.
        @exclusivity(unchecked) fileprivate var left: Int

        init(limit: Int = Budget.limit) { left = limit }

        var isLeft: Bool { left > 0 }

        func take() { left -= 1 }
    }

    /// The most digests that a sample remembers.
    static let sampleSize = 100_000

    private(set) var digests: Set<UInt64> = []
    /// False once two digests were equal, or could not be compared.
    private(set) var allDiffer: Bool
    /// True if the budget was used up.
    private(set) var isOverBudget = false
    /// True for a set that goes on when it is full. Every later digest is compared with those that it remembers; two equal
    /// later ones are not noticed. They are found when the document is read again (``RecordCounter``).
    private let isSample: Bool

    init(isSample: Bool = false, allDiffer: Bool = true) {
        self.isSample = isSample
        self.allDiffer = allDiffer
    }

    mutating func insert(_ digest: UInt64?, _ budget: Budget) {
        guard allDiffer else { return }
        guard let digest else { return giveUp(budget) }
        guard budget.isLeft, !isSample || digests.count < Self.sampleSize else {
            isOverBudget = true
            if !isSample || digests.contains(digest) { giveUp(budget) }
            return
        }
        if digests.insert(digest).inserted { budget.take() } else { giveUp(budget) }
    }

    mutating func giveUp(_ budget: Budget) {
        allDiffer = false
        forget(budget)
    }

    /// Returns the set's memory to the budget: the next values may equal those so far, such as those in the children of
    /// another element.
    mutating func forget(_ budget: Budget) {
        budget.left += digests.count
        // The time to empty a set grows with its capacity, which is too much for a set that was once large.
        if digests.count > 64 { digests = [] } else { digests.removeAll(keepingCapacity: allDiffer) }
    }

    /// Adds a set of values that is complete.
    mutating func formUnion(_ other: DigestSet) {
        allDiffer = allDiffer && other.allDiffer && digests.isDisjoint(with: other.digests)
        if allDiffer, digests.count < Self.sampleSize { digests.formUnion(other.digests) }
        if !allDiffer { digests = [] }
    }
}
