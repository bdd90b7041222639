import FeedModel

/// The patterns that a connection has used, compiled. An expression mostly has one and the same for all records.
final class PatternCache {
    /// The most patterns that are kept; one that comes from the feed may be another for each record.
    private static let limit = 64
    /// The most instructions that they have together; each needs some 200 bytes.
    private static let mostInstructions = 50_000
    /// The most bytes of a pattern.
    private static let longest = 16 << 10

    private var last: (bytes: [UInt8], program: PatternProgram)?
    private var programs: [[UInt8]: PatternProgram] = [:]
    private var instructions = 0

    func program(_ pattern: UnsafeBufferPointer<UInt8>) throws(PatternError) -> PatternProgram {
        if let last, last.bytes.elementsEqual(pattern) { return last.program }
        guard pattern.count <= Self.longest else {
            throw PatternError("a pattern has at most \(Self.longest) bytes, and this one has \(pattern.count)")
        }
        let bytes = Array(pattern)
        let program: PatternProgram
        if let known = programs[bytes] {
            program = known
        } else {
            program = try PatternProgram(String(decoding: bytes, as: UTF8.self))
            if programs.count >= Self.limit || instructions > Self.mostInstructions {
                (programs, instructions) = ([:], 0)
            }
            programs[bytes] = program
            instructions += program.instructions.count
        }
        last = (bytes, program)
        return program
    }
}

/// The reason why a regular expression is none, or why a text is not searched with it.
struct PatternError: Error {
    let finding: Finding

    init(_ text: String, help: String? = nil) { finding = Finding(text, help: help) }
}
