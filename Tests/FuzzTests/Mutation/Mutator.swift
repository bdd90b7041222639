import TestSupport

/// Makes new inputs of old ones: bytes flipped, pieces cut, copied, moved, nested and repeated, words of the format put
/// in, numbers replaced by those at the edges.
///
/// The same seed makes the same inputs. Inputs that were taken are made inputs of in turn, for they lead further in.
struct Mutator {
    private var random: SplitMix64
    private var pool: [[UInt8]]
    private let kept: Int
    private let words: [[UInt8]]
    /// No input is longer.
    private let largest: Int

    init(_ kind: FuzzKind, corpus: [[UInt8]], seed: UInt64, largest: Int) {
        random = SplitMix64(seed: seed)
        pool = corpus.isEmpty ? [[]] : corpus
        kept = pool.count
        words = kind.words.map { Array($0.utf8) }
        self.largest = largest
    }

    mutating func next() -> [UInt8] {
        // The files of the corpus half of the time, so that no long-lived offspring crowds them out.
        var input = pool[Int.random(in: 0..<(random.oneIn(2) ? kept : pool.count), using: &random)]
        for _ in 0..<Int.random(in: 1...5, using: &random) { mutate(&input) }
        return input.count > largest ? Array(input.prefix(largest)) : input
    }

    /// Says that an input was taken.
    mutating func keep(_ input: [UInt8]) {
        guard input.count <= 4096 else { return }
        if pool.count < kept + 200 {
            pool.append(input)
        } else {
            pool[Int.random(in: kept..<pool.count, using: &random)] = input
        }
    }

    private mutating func mutate(_ input: inout [UInt8]) {
        switch Int.random(in: 0..<14, using: &random) {
        case 0:
            guard let index = input.indices.randomElement(using: &random) else { return }
            input[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1:
            guard let index = input.indices.randomElement(using: &random) else { return }
            input[index] = [0, 0x0A, 0x20, 0x7F, 0x80, 0xBF, 0xC3, 0xED, 0xFE, 0xFF].randomElement(using: &random) ?? 0
        case 2, 3:
            input.insert(contentsOf: word(), at: Int.random(in: 0...input.count, using: &random))
        case 4:
            let range = range(of: input)
            input.replaceSubrange(range, with: word())
        case 5:
            input.removeSubrange(range(of: input))
        case 6:
            let piece = input[range(of: input)]
            input.insert(contentsOf: Array(piece), at: Int.random(in: 0...input.count, using: &random))
        case 7:
            // Another input's piece.
            let other = pool[Int.random(in: 0..<pool.count, using: &random)]
            input.replaceSubrange(range(of: input), with: other[range(of: other)])
        case 8:
            input.removeSubrange(Int.random(in: 0...input.count, using: &random)...)
        case 9:
            replaceNumber(&input)
        case 10:
            guard let part = part(of: input) else { return }
            input.removeSubrange(part)
        case 11:
            guard let from = part(of: input), let to = part(of: input) else { return }
            input.replaceSubrange(to, with: Array(input[from]))
        case 12:
            guard let part = part(of: input) else { return }
            repeats(part, &input)
        default:
            nest(&input)
        }
    }

    private mutating func word() -> [UInt8] { words.randomElement(using: &random) ?? [] }

    private mutating func range(of input: [UInt8]) -> Range<Int> {
        let start = Int.random(in: 0...input.count, using: &random)
        let most = random.oneIn(4) ? input.count : 16
        return start..<min(input.count, start + Int.random(in: 0...most, using: &random))
    }

    // MARK: - By structure

    /// An element, an object or array, or a line.
    private mutating func part(of input: [UInt8]) -> Range<Int>? {
        InputParts.all(of: input).randomElement(using: &random)
    }

    /// A part once more and again: from a few times to as often as there is room.
    private mutating func repeats(_ part: Range<Int>, _ input: inout [UInt8]) {
        guard !part.isEmpty, input.count < largest else { return }
        let most = (largest - input.count) / part.count
        let times = random.oneIn(8) ? most : min(most, Int.random(in: 1...64, using: &random))
        let piece = Array(input[part])
        var copies: [UInt8] = []
        copies.reserveCapacity(piece.count * times)
        for _ in 0..<times { copies += piece }
        input.insert(contentsOf: copies, at: part.upperBound)
    }

    /// What opens a part before it, and what closes it behind it, a number of times.
    private mutating func nest(_ input: inout [UInt8]) {
        guard let (part, head, tail) = InputParts.brackets(in: input).randomElement(using: &random) else { return }
        let opening = Array(input[head])
        let closing = Array(input[tail])
        guard opening.count + closing.count > 0, input.count < largest else { return }
        let most = (largest - input.count) / (opening.count + closing.count)
        let times = random.oneIn(8) ? most : min(most, Int.random(in: 1...32, using: &random))
        var before: [UInt8] = []
        var behind: [UInt8] = []
        for _ in 0..<times {
            before += opening
            behind += closing
        }
        input.insert(contentsOf: behind, at: part.upperBound)
        input.insert(contentsOf: before, at: part.lowerBound)
    }

    private mutating func replaceNumber(_ input: inout [UInt8]) {
        let isDigit: (UInt8) -> Bool = { (0x30...0x39).contains($0) }
        let digits = input.indices.filter { isDigit(input[$0]) }
        guard let index = digits.randomElement(using: &random) else { return }
        var start = index
        var end = index + 1
        while start > 0, isDigit(input[start - 1]) { start -= 1 }
        while end < input.count, isDigit(input[end]) { end += 1 }
        let number = FuzzKind.numbers.randomElement(using: &random) ?? "0"
        input.replaceSubrange(start..<end, with: Array(number.utf8))
    }
}
