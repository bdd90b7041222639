/// The records that a run leaves out because its declarations say so, by the reason.
package struct SkippedRows: Sendable, Equatable {
    /// The number of errors that are kept.
    package static let mostErrors = 3

    /// Records that a table's `where` excludes.
    package var filtered = 0
    /// Elements that a parser class does not accept.
    package var unaccepted = 0
    /// Records with a value that does not convert, or that is missing.
    package private(set) var invalid = 0
    /// The errors of the first of these, at most ``mostErrors``.
    package private(set) var errors: [String] = []

    package init() {}

    package var count: Int { filtered + unaccepted + invalid }

    /// - Parameter error: what is wrong with the record; nil if it is not known.
    package mutating func addInvalid(_ error: String?) {
        invalid += 1
        if let error, errors.count < Self.mostErrors { errors.append(error) }
    }

    package mutating func add(_ other: SkippedRows) {
        filtered += other.filtered
        unaccepted += other.unaccepted
        invalid += other.invalid
        errors = Array((errors + other.errors).prefix(Self.mostErrors))
    }

    /// The number of invalid records with the first errors; nil without one.
    package var note: String? {
        guard invalid > 0 else { return nil }
        let count = invalid == 1 ? "1 record was skipped" : "\(invalid) records were skipped"
        let rest = invalid > errors.count && !errors.isEmpty ? ["and \(invalid - errors.count) more"] : []
        return errors.isEmpty ? count : count + ": " + (errors + rest).joined(separator: "; ")
    }
}
