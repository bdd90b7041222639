/// A set of 64-bit digests of values, which decides whether all of them differ.
///
/// Among four million different values, two have the same digest with a probability of one in 10⁶. They then count as
/// equal, so a possible key is not proposed; the reverse never happens.
struct DigestSet {
    /// The digests that all sets of one count may still take.
    final class Budget {
        /// The most digests at a time: some 100 MB.
        static let limit = 4_000_000

        // `@exclusivity(unchecked)`: one thread changes it, at each value.
        @exclusivity(unchecked) fileprivate var left: Int

        init(limit: Int = Budget.limit) { left = limit }

        var isLeft: Bool { left > 0 }

        func take() { left -= 1 }

        func giveBack(_ digests: Int) { left += digests }
    }

    private(set) var digests: Set<UInt64> = []
    /// False once two digests were equal, or could not be compared.
    private(set) var allDiffer = true
    /// True if the budget was used up.
    private(set) var isOverBudget = false

    mutating func insert(_ digest: UInt64?, _ budget: Budget) {
        guard allDiffer else { return }
        guard let digest, budget.left > 0 else {
            isOverBudget = digest != nil
            return giveUp(budget)
        }
        if digests.insert(digest).inserted { budget.left -= 1 } else { giveUp(budget) }
    }

    mutating func giveUp(_ budget: Budget) {
        allDiffer = false
        forget(budget)
    }

    /// Returns the set's memory to the budget.
    mutating func forget(_ budget: Budget) {
        budget.left += digests.count
        digests = []
    }
}
