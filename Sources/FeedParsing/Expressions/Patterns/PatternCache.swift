/// The patterns that a connection has used, compiled. An expression mostly has one and the same for all records.
final class PatternCache {
    /// The most patterns that are kept; one that comes from the feed may be another for each record.
    private static let limit = 64

    private var last: (bytes: [UInt8], program: PatternProgram)?
    private var programs: [[UInt8]: PatternProgram] = [:]

    func program(_ pattern: UnsafeBufferPointer<UInt8>) throws(PatternError) -> PatternProgram {
        if let last, last.bytes.elementsEqual(pattern) { return last.program }
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
