/// A search for a pattern in one text.
///
/// It follows all ways to match at once, character by character (K. Thompson, 1968; R. Pike's sam). Of several ways
/// at the same instruction, only the first counts. The time is therefore bounded by the length of the text times that
/// of the pattern, and the memory by the length of the pattern. Backtracking engines may take exponential time.
struct PatternSearch {
    /// The most steps of one call, some tenths of a second.
    static let stepLimit = 1 << 25

    private let program: PatternProgram
    private let text: UnsafeBufferPointer<UInt8>
    private let stepLimit: Int
    private var steps = 0
    /// The positions that each way keeps: two for the match, and two for each requested group.
    private let width: Int
    private let threads: PatternThreads
    private var present: PatternThreads.List
    private var presentCount = 0
    private var coming: PatternThreads.List
    private var comingCount = 0
    private var now: UInt64

    /// - Parameter groups: the groups whose places are wanted, by the greatest number; nil if only the answer is
    ///   wanted.
    init(
        _ program: PatternProgram, _ text: UnsafeBufferPointer<UInt8>, groups: Int?, stepLimit: Int = stepLimit
    ) {
        self.program = program
        self.text = text
        self.stepLimit = stepLimit
        width = groups.map { 2 * ($0 + 1) } ?? 0
        threads = program.threads
        (present, coming) = threads.lists
        now = threads.now
    }

    /// Returns the place of a group in the text, or of the match for 0; nil for a group that took no part.
    func range(ofGroup group: Int) -> Range<Int>? {
        let (start, end) = (Int(threads.match[2 * group]), Int(threads.match[2 * group + 1]))
        return start >= 0 && end >= start ? start..<end : nil
    }

    /// Counts work for a match in addition to the search itself.
    ///
    /// - Throws: ``PatternError`` if the call takes too long.
    mutating func spend(_ count: Int) throws(PatternError) {
        steps += count
        guard steps <= stepLimit else {
            throw PatternError("the search takes more than \(stepLimit) steps in a text of \(text.count) bytes")
        }
    }

    /// Finds the first match at or after a position.
    ///
    /// - Throws: ``PatternError`` if the search takes too long.
    mutating func find(from start: Int) throws(PatternError) -> Bool {
        defer { threads.now = now }
        var position = start
        var isFound = false
        comingCount = 0
        now += 1
        while true {
            if comingCount == 0 {
                if isFound { break }
                if let first = program.firstBytes {
                    while position < text.count, !first[Int(text[position])] { position += 1 }
                    guard position < text.count else { return false }
                }
            }
            // A way that begins here comes after all those that began before.
            if !isFound, program.firstBytes.map({ position < text.count && $0[Int(text[position])] }) ?? true {
                for slot in 0..<width { threads.current[slot] = -1 }
                follow(0, position)
            }
            if try step(at: position) {
                isFound = true
                if width == 0 { return true }
            }
            guard position < text.count else { break }
            position += scalar(at: position).length
        }
        return isFound
    }

    /// Takes all ways over the character at a position.
    ///
    /// - Returns: true if one of them has come to its end.
    private mutating func step(at position: Int) throws(PatternError) -> Bool {
        swap(&present, &coming)
        (presentCount, comingCount) = (comingCount, 0)
        now += 1
        try spend(1 + presentCount)
        let isEnd = position == text.count
        let (value, length) = isEnd ? (0, 0) : scalar(at: position)
        for index in 0..<presentCount {
            let instruction = present.instructions[index]
            let step = threads.steps[Int(instruction)]
            let isTaken: Bool
            switch step.kind {
            case .match:
                threads.match.update(from: present.places + index * width, count: width)
                // Those behind it count for nothing.
                return true
            case .scalar: isTaken = value == UInt32(bitPattern: step.first)
            case .any: isTaken = true
            case .anyInLine: isTaken = value != 0x0A
            case .set where value < 64: isTaken = step.ascii.low >> UInt64(value) & 1 == 1
            case .set where value < 128: isTaken = step.ascii.high >> UInt64(value - 64) & 1 == 1
            case .set: isTaken = program.sets[Int(step.first)].contains(value)
            case .assertion, .split, .jump, .save: isTaken = false
            }
            guard isTaken, !isEnd else { continue }
            threads.current.update(from: present.places + index * width, count: width)
            follow(instruction + 1, position + length)
        }
        return false
    }

    /// Continues from an instruction to all that read the next character, in the order of their priority.
    private mutating func follow(_ instruction: Int32, _ position: Int) {
        let (steps, reached, jobs, current) = (threads.steps, threads.reached, threads.jobs, threads.current)
        var count = 0
        var instruction = instruction
        while true {
            var next: Int32?
            if reached[Int(instruction)] != now {
                reached[Int(instruction)] = now
                self.steps += 1
                let step = steps[Int(instruction)]
                switch step.kind {
                case .jump: next = step.first
                case .split:
                    jobs[count] = .init(instruction: step.second)
                    count += 1
                    next = step.first
                case .save:
                    let slot = Int(step.first)
                    if slot < width {
                        jobs[count] = .init(instruction: -1, slot: step.first, place: current[slot])
                        count += 1
                        current[slot] = Int32(truncatingIfNeeded: position)
                    }
                    next = instruction + 1
                case .assertion:
                    if let assertion = PatternNode.Assertion(rawValue: Int(step.first)), holds(assertion, at: position)
                    {
                        next = instruction + 1
                    }
                case .scalar, .any, .anyInLine, .set, .match:
                    coming.instructions[comingCount] = instruction
                    (coming.places + comingCount * width).update(from: current, count: width)
                    comingCount += 1
                }
            }
            while next == nil {
                guard count > 0 else { return }
                count -= 1
                let job = jobs[count]
                if job.instruction >= 0 {
                    next = job.instruction
                } else {
                    current[Int(job.slot)] = job.place
                }
            }
            instruction = next ?? 0
        }
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
