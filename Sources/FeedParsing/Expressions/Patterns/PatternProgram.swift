/// A regular expression as instructions for ``PatternSearch``.
struct PatternProgram {
    typealias Instruction = PatternThreads.Step

    /// The most instructions of a program, counting each repetition of a part.
    private static let limit = 10_000

    private(set) var instructions: [Instruction] = []
    private(set) var sets: [ScalarSet] = []
    let groups: Int
    /// True for each byte with which a match may begin; nil if it may be empty.
    private(set) var firstBytes: [Bool]?
    /// Room for the search that is in progress.
    private(set) var threads = PatternThreads([], width: 0)

    init(_ pattern: String) throws(PatternError) {
        var parser = PatternParser(pattern)
        let node = try parser.parse()
        groups = parser.groups
        try append(.init(.save, 0))
        try compile(node)
        try append(.init(.save, 1))
        try append(.init(.match))
        firstBytes = findFirstBytes()
        threads = PatternThreads(instructions, width: 2 * (min(groups, PatternReplacement.lastGroup) + 1))
    }

    private mutating func append(_ instruction: Instruction) throws(PatternError) {
        guard instructions.count < Self.limit else {
            throw PatternError("the pattern is too large", help: "count less, or nest fewer counts")
        }
        instructions.append(instruction)
    }

    private mutating func compile(_ node: PatternNode) throws(PatternError) {
        switch node {
        case .empty: break
        case .scalar(let value): try append(.init(.scalar, Int(value)))
        case .any(let includesLineEnd): try append(.init(includesLineEnd ? .any : .anyInLine))
        case .set(let set):
            sets.append(set)
            try append(.init(.set, sets.count - 1, ascii: set.ascii))
        case .assertion(let assertion): try append(.init(.assertion, assertion.rawValue))
        case .sequence(let parts): for part in parts { try compile(part) }
        case .choice(let options): try compile(options)
        case .group(let inner, let number):
            try append(.init(.save, 2 * number))
            try compile(inner)
            try append(.init(.save, 2 * number + 1))
        case .repeat(let inner, let least, let most, let isLazy):
            for _ in 0..<least { try compile(inner) }
            guard let most else { return try compileLoop(inner, isLazy: isLazy) }
            var splits: [Int] = []
            for _ in least..<max(most, least) {
                splits.append(instructions.count)
                try append(.init(.match))
                try compile(inner)
            }
            for split in splits { instructions[split] = Self.split(split + 1, instructions.count, isLazy: isLazy) }
        }
    }

    private static func split(_ inside: Int, _ outside: Int, isLazy: Bool) -> Instruction {
        .init(.split, isLazy ? outside : inside, isLazy ? inside : outside)
    }

    private mutating func compileLoop(_ inner: PatternNode, isLazy: Bool) throws(PatternError) {
        let start = instructions.count
        try append(.init(.match))
        try compile(inner)
        try append(.init(.jump, start))
        instructions[start] = Self.split(start + 1, instructions.count, isLazy: isLazy)
    }

    private mutating func compile(_ options: [PatternNode]) throws(PatternError) {
        var jumps: [Int] = []
        for (index, option) in options.enumerated() {
            guard index < options.count - 1 else {
                try compile(option)
                break
            }
            let split = instructions.count
            try append(.init(.match))
            try compile(option)
            jumps.append(instructions.count)
            try append(.init(.match))
            instructions[split] = .init(.split, split + 1, instructions.count)
        }
        for jump in jumps { instructions[jump] = .init(.jump, instructions.count) }
    }

    private func findFirstBytes() -> [Bool]? {
        var bytes = [Bool](repeating: false, count: 256)
        var visited = Set<Int>()
        var open = [0]
        func allow(_ isIn: (UInt32) -> Bool) {
            for value in 0..<UInt32(128) where isIn(value) { bytes[Int(value)] = true }
            // Whatever begins beyond ASCII may be the one.
            for byte in 128..<256 { bytes[byte] = true }
        }
        while let index = open.popLast() {
            guard visited.insert(index).inserted else { continue }
            let step = instructions[index]
            let first = Int(step.first)
            switch step.kind {
            case .match: return nil
            case .scalar where first < 128: bytes[first] = true
            case .scalar: allow { _ in false }
            case .any, .anyInLine: allow { _ in true }
            case .set: allow { sets[first].contains($0) }
            case .assertion, .save: open.append(index + 1)
            case .jump: open.append(first)
            case .split: open += [first, Int(step.second)]
            }
        }
        return bytes
    }
}

/// A part of a regular expression.
indirect enum PatternNode {
    enum Assertion: Int {
        case start, end, lineStart, lineEnd, wordBoundary, noWordBoundary
    }

    case empty
    case scalar(UInt32)
    case any(includesLineEnd: Bool)
    case set(ScalarSet)
    case assertion(Assertion)
    case sequence([PatternNode])
    case choice([PatternNode])
    /// A group with its number.
    case group(PatternNode, Int)
    case `repeat`(PatternNode, atLeast: Int, atMost: Int?, isLazy: Bool)
}
