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

        let kind: Kind
        /// A scalar, the number of a set, an assertion, the slot in which the position in the text is noted, or the next
        /// instruction.
        let first: Int32
        /// The second instruction of a split, which is followed where the first leads to no match.
        let second: Int32
        /// The ASCII characters of a set.
        let ascii: (low: UInt64, high: UInt64)

        init(_ kind: Kind, _ first: Int = 0, _ second: Int = 0, ascii: (low: UInt64, high: UInt64) = (0, 0)) {
            self.kind = kind
            self.first = Int32(first)
            self.second = Int32(second)
            self.ascii = ascii
        }
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
