/// The patterns that a connection has used, compiled. An expression mostly has one and the same for all records.
final class PatternCache {
    /// The most patterns that are kept; one that comes from the feed may be another for each record.
    private static let limit = 64
    /// The most bytes of a pattern.
    private static let longest = 16 << 10

    private var last: (bytes: [UInt8], program: PatternProgram)?
    private var programs: [[UInt8]: PatternProgram] = [:]

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
            if programs.count >= Self.limit { programs = [:] }
            programs[bytes] = program
        }
        last = (bytes, program)
        return program
    }
}
