/// A search for a pattern in one text.
///
/// It tries the ways to match one after another, and none twice from the same place: each instruction is looked at once
/// at most for each position of the text. So its time is bounded by the length of the text times that of the pattern,
/// whatever both are, where engines that go back take time that doubles with each further character.
struct PatternSearch {
    /// The most steps of one call, some tenths of a second.
    static let stepLimit = 1 << 25
    /// The most pairs of an instruction and a position: 16 MiB of memory.
    private static let stateLimit = 1 << 27

    private enum Job {
        case `try`(instruction: Int, position: Int)
        case restore(slot: Int, position: Int)
    }

    private let program: PatternProgram
    private let text: UnsafeBufferPointer<UInt8>
    private var visited: [UInt64]
    /// The positions for which `visited` may hold something.
    private var touched = 0..<0
    private var jobs: [Job] = []
    private var steps = 0
    private let stepLimit: Int
    /// The start and the end of the match, and of each group; -1 for a group that took no part.
    private(set) var slots: [Int]

    /// - Throws: ``PatternError`` where the text is too long for the pattern.
    init(_ program: PatternProgram, _ text: UnsafeBufferPointer<UInt8>, stepLimit: Int = stepLimit)
        throws(PatternError)
    {
        self.program = program
        self.stepLimit = stepLimit
        self.text = text
        let states = program.instructions.count * (text.count + 1)
        guard states <= Self.stateLimit else {
            throw PatternError(
                "a text of \(text.count) bytes is too long for a pattern of \(program.instructions.count) parts: their "
                    + "product is limited to \(Self.stateLimit)")
        }
        visited = Array(repeating: 0, count: (states + 63) / 64)
        slots = Array(repeating: -1, count: 2 * (program.groups + 1))
    }

    /// Finds the first match at or after a position.
    ///
    /// - Throws: ``PatternError`` where the search takes too long.
    mutating func find(from start: Int) throws(PatternError) -> Bool {
        forget()
        var position = start
        while position <= text.count {
            if let first = program.firstBytes {
                while position < text.count, !first[Int(text[position])] { position += 1 }
                guard position < text.count else { return false }
            }
            if try matches(at: position) { return true }
            position += position < text.count ? scalar(at: position).length : 1
        }
        return false
    }

    /// Forgets where the search has been: places on the way to a match may lead to the next one.
    private mutating func forget() {
        let width = program.instructions.count
        let words = touched.lowerBound * width / 64..<min((touched.upperBound * width + 63) / 64, visited.count)
        for word in words { visited[word] = 0 }
        steps += words.count / 8
        touched = 0..<0
    }

    private mutating func matches(at start: Int) throws(PatternError) -> Bool {
        for slot in slots.indices { slots[slot] = -1 }
        jobs.removeAll(keepingCapacity: true)
        jobs.append(.try(instruction: 0, position: start))
        while let job = jobs.popLast() {
            switch job {
            case .restore(let slot, let position): slots[slot] = position
            case .try(let instruction, let position):
                if try follow(instruction, position) { return true }
            }
        }
        return false
    }

    /// Follows one way until it matches or fails, and leaves the others as jobs.
    private mutating func follow(_ instruction: Int, _ position: Int) throws(PatternError) -> Bool {
        var (instruction, position) = (instruction, position)
        while true {
            steps += 1
            guard steps <= stepLimit else {
                throw PatternError("the search takes more than \(stepLimit) steps in a text of \(text.count) bytes")
            }
            guard visit(instruction, position) else { return false }
            switch program.instructions[instruction] {
            case .match: return true
            case .jump(let target): instruction = target
            case .split(let first, let second):
                jobs.append(.try(instruction: second, position: position))
                instruction = first
            case .save(let slot):
                jobs.append(.restore(slot: slot, position: slots[slot]))
                slots[slot] = position
                instruction += 1
            case .assertion(let assertion):
                guard holds(assertion, at: position) else { return false }
                instruction += 1
            case .scalar(let value):
                guard position < text.count else { return false }
                let found = scalar(at: position)
                guard found.value == value else { return false }
                position += found.length
                instruction += 1
            case .any(let includesLineEnd):
                guard position < text.count, includesLineEnd || text[position] != UInt8(ascii: "\n") else {
                    return false
                }
                position += scalar(at: position).length
                instruction += 1
            case .set(let set):
                guard position < text.count else { return false }
                let found = scalar(at: position)
                guard program.sets[set].contains(found.value) else { return false }
                position += found.length
                instruction += 1
            }
        }
    }

    /// Returns false for a place that has been visited.
    private mutating func visit(_ instruction: Int, _ position: Int) -> Bool {
        let state = position * program.instructions.count + instruction
        let bit: UInt64 = 1 << UInt64(state & 63)
        guard visited[state >> 6] & bit == 0 else { return false }
        visited[state >> 6] |= bit
        if touched.isEmpty {
            touched = position..<position + 1
        } else if position >= touched.upperBound {
            touched = touched.lowerBound..<position + 1
        } else if position < touched.lowerBound {
            touched = position..<touched.upperBound
        }
        return true
    }

    // MARK: - The text

    private func holds(_ assertion: PatternNode.Assertion, at position: Int) -> Bool {
        switch assertion {
        case .start: position == 0
        case .end: position == text.count
        case .lineStart: position == 0 || text[position - 1] == UInt8(ascii: "\n")
        case .lineEnd: position == text.count || text[position] == UInt8(ascii: "\n")
        case .wordBoundary: isWord(before: position) != isWord(at: position)
        case .noWordBoundary: isWord(before: position) == isWord(at: position)
        }
    }

    private func isWord(at position: Int) -> Bool {
        position < text.count
            && Unicode.Scalar(scalar(at: position).value).map(ScalarSet.Class.word.contains) ?? false
    }

    private func isWord(before position: Int) -> Bool {
        var start = position - 1
        while start > 0, text[start] & 0xC0 == 0x80, position - start < 4 { start -= 1 }
        return start >= 0 && isWord(at: start)
    }

    /// Returns the character at a position, and its length in bytes. A byte that is no UTF-8 is a character of its own.
    @inline(__always)
    func scalar(at position: Int) -> (value: UInt32, length: Int) {
        let first = UInt32(text[position])
        if first < 0x80 { return (first, 1) }
        let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1
        guard length > 1, position + length <= text.count else { return (0xFFFD, 1) }
        var value = first & (0x7F >> UInt32(length))
        for byte in text[(position + 1)..<(position + length)] { value = value << 6 | UInt32(byte & 0x3F) }
        return (value, length)
    }
}
