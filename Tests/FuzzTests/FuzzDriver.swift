import Foundation
import TestSupport

/// Runs inputs of one kind: the corpus, then mutations of it. Deterministic for a seed.
///
/// Each input is in a file before it runs, so that one that ends the process can be found.
struct FuzzDriver {
    var kind: FuzzKind
    var seed: UInt64 = 1
    var iterations: Int
    /// Bytes of the largest input.
    var largest = 4 << 10

    /// What an input may take of the processor: this, and so much more for each byte.
    private static let seconds = 1.0
    private static let secondsPerByte = 0.000_1

    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// - Returns: how many inputs were taken rather than refused.
    /// - Throws: ``Failure`` with everything that is needed to run the input again.
    func run() throws -> Int {
        // Another run may have the same seed at the same time.
        let name = "tributary-fuzz-\(kind)-\(seed)-\(ProcessInfo.processInfo.processIdentifier).input"
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(name).path
        try Data().write(to: URL(fileURLWithPath: path))
        guard let file = FileHandle(forWritingAtPath: path) else { throw POSIXError(.ENOENT) }
        FileHandle.standardError.write(Data("fuzzing \(kind) with seed \(seed); the input is in \(path)\n".utf8))
        let target = try kind.makeTarget()
        let corpus = try kind.corpus()
        var mutator = Mutator(kind, corpus: corpus, seed: seed, largest: largest)
        var taken = 0
        for iteration in 0..<(corpus.count + iterations) {
            let input = iteration < corpus.count ? corpus[iteration] : mutator.next()
            try file.truncate(atOffset: 0)
            try file.write(contentsOf: input)
            do {
                if try Self.run(input, by: target) {
                    taken += 1
                    if iteration >= corpus.count { mutator.keep(input) }
                }
            } catch {
                throw Failure(
                    description:
                        "\(kind), seed \(seed), iteration \(iteration), \(input.count) bytes in \(path): \(error)")
            }
        }
        try file.close()
        try FileManager.default.removeItem(atPath: path)
        return taken
    }

    /// Runs one input within its budget.
    static func run(_ input: [UInt8], by target: any FuzzTarget) throws -> Bool {
        let time = ProcessorTime()
        let isTaken = try target.run(input)
        let used = time.seconds
        guard used <= seconds + secondsPerByte * Double(input.count) else {
            throw FuzzFinding("\(input.count) bytes took \(used) s of the processor")
        }
        return isTaken
    }
}
