/// Room for the search with one program, made once: its instructions, and the ways to match that are in progress, in
/// the order in which they count. Plain memory, as a search looks at it for each character.
///
/// Used by one search at a time.
final class PatternThreads {
    /// An instruction as a search reads it.
    struct Step {
        enum Kind: UInt8 {
            case scalar, any, anyInLine, set, assertion, split, jump, save, match
        }

        var kind: Kind
        /// A scalar, the number of a set, a slot, or the next instruction.
        var first: Int32 = 0
        /// The second instruction of a split.
        var second: Int32 = 0
        /// The ASCII characters of a set.
        var ascii: (low: UInt64, high: UInt64) = (0, 0)
    }

    /// An instruction to follow, or, if it is below 0, a position to restore afterwards.
    struct Job {
        var instruction: Int32
        var slot: Int32 = 0
        var place: Int32 = 0
    }

    /// The ways at one character.
    struct List {
        var instructions: UnsafeMutablePointer<Int32>
        /// The positions of each way's match and groups, one way after another.
        var places: UnsafeMutablePointer<Int32>
    }

    let size: Int
    let steps: UnsafeMutablePointer<Step>
    /// For each instruction, when it was last reached: each is reached once for a character.
    let reached: UnsafeMutablePointer<UInt64>
    /// Grows from search to search, so that nothing need be forgotten.
    var now: UInt64 = 0
    /// Each instruction that is reached leaves two jobs at the most.
    let jobs: UnsafeMutablePointer<Job>
    private(set) var lists: (List, List)
    /// The places of the way that is followed.
    let current: UnsafeMutablePointer<Int32>
    /// The positions of the match; -1 for groups that took no part.
    let match: UnsafeMutablePointer<Int32>

    /// - Parameter width: the most places that are kept for each way.
    init(_ steps: [Step], width: Int) {
        size = steps.count
        self.steps = .allocate(capacity: size)
        self.steps.initialize(from: steps, count: size)
        reached = .allocate(capacity: size)
        reached.initialize(repeating: 0, count: size)
        jobs = .allocate(capacity: 2 * size + 2)
        let size = size
        let list = { List(instructions: .allocate(capacity: size), places: .allocate(capacity: size * width)) }
        lists = (list(), list())
        current = .allocate(capacity: width)
        match = .allocate(capacity: width)
    }

    deinit {
        steps.deallocate()
        reached.deallocate()
        jobs.deallocate()
        for list in [lists.0, lists.1] {
            list.instructions.deallocate()
            list.places.deallocate()
        }
        current.deallocate()
        match.deallocate()
    }
}
