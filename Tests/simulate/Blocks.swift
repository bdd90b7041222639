import Foundation

/// Runs seeds in processes of a few each, several of them at a time. A process of its own for each few frees what killed
/// daemons have left, and shows which seed has ended it.
struct Blocks {
    /// A seed with power failures takes as long as five others.
    private var seedsPerBlock: UInt64 { powerFailures == nil ? 20 : 4 }

    /// What was done, as a process writes it in its last line.
    struct Counts {
        var (seeds, runs, powerFailures, hours) = (0, 0, 0, 0.0)

        var line: String { "@done \(seeds) \(runs) \(powerFailures) \(hours)" }

        /// Adds what such a line says.
        mutating func add(_ line: Substring) {
            let numbers = line.split(separator: " ").dropFirst().compactMap { Double($0) }
            guard numbers.count == 4 else { return }
            seeds += Int(numbers[0])
            runs += Int(numbers[1])
            powerFailures += Int(numbers[2])
            hours += numbers[3]
        }
    }

    private struct Block {
        let first: UInt64
        let folder: String
        let child: Child
    }

    /// What the first seed in which something was found has shown.
    struct Failure {
        let seed: UInt64
        /// True where the fewest steps can be sought.
        let isFinding: Bool
        let lines: [String]
    }

    let first: UInt64
    let seeds: Int
    /// The time after which no block begins, in seconds since 1970; nil for none.
    let end: Double?
    /// The power failures after which no block begins; nil for any number.
    let powerFailures: Int?
    let jobs: Int
    /// The arguments of each process.
    let arguments: [String]
    let say: (String) -> Void

    private(set) var counts = Counts()
    private(set) var failure: Failure?
    private var next: UInt64 = 0

    init(
        first: UInt64, seeds: Int, end: Double?, powerFailures: Int?, jobs: Int, arguments: [String],
        say: @escaping (String) -> Void
    ) {
        self.first = first
        self.seeds = seeds
        self.end = end
        self.powerFailures = powerFailures
        self.jobs = jobs
        self.arguments = arguments
        self.say = say
    }

    private var isOver: Bool {
        next >= seeds || failure != nil || counts.powerFailures >= powerFailures ?? .max
            || end.map { Date().timeIntervalSince1970 >= $0 } ?? false
    }

    mutating func run() throws {
        let folder = Simulate.folder("\(getpid())")
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var running: [Block] = []
        while true {
            while !isOver, running.count < jobs { running.append(try begin(in: folder)) }
            guard !running.isEmpty else { return }
            let ending = Child.firstEnding()
            guard let index = running.firstIndex(where: { $0.child.process == ending.process }) else { continue }
            try take(running.remove(at: index), ending)
        }
    }

    private mutating func begin(in folder: String) throws -> Block {
        let count = min(seedsPerBlock, UInt64(seeds) - next)
        let (seed, folder) = (first &+ next, folder + "/\(next)")
        next += count
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let child = try Child(
            in: folder, ["--first", "\(seed)", "--seeds", "\(count)"] + arguments, output: Self.output(in: folder))
        return Block(first: seed, folder: folder, child: child)
    }

    private static func output(in folder: String) -> String { folder + "/output" }

    /// Takes what a process has printed. Those of lower seeds may still be running.
    private mutating func take(_ block: Block, _ ending: Child.Ending) throws {
        let path = Self.output(in: block.folder)
        let output = String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
        try FileManager.default.removeItem(atPath: block.folder)
        var (lines, seed, isFinding): ([String], UInt64, Bool) = ([], block.first, false)
        for line in output.split(separator: "\n") {
            switch line.prefix(while: { $0 != " " }) {
            case "@done": counts.add(line)
            case "@begins": seed = line.split(separator: " ").last.flatMap { UInt64($0) } ?? seed
            case "@found": isFinding = true
            default: lines.append(String(line))
            }
        }
        guard ending.status != 0 else {
            for line in lines { say(line) }
            return
        }
        if ending.status == nil {
            lines.append("seed \(seed) crash the program is ended by signal \(ending.signal)")
            isFinding = true
        }
        if failure.map({ seed < $0.seed }) ?? true {
            failure = Failure(seed: seed, isFinding: isFinding, lines: lines)
        }
    }
}
