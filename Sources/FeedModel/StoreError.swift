/// The reason why the main store, or a worker context that stages rows for it, refuses something.
public struct StoreError: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Code: Sendable {
        /// The store's file cannot be opened, or its schema cannot be applied.
        case unavailable
        /// A record names a table or a column that the store does not have, or a key that is not declared unique.
        case schema
        /// A row breaks a constraint: NOT NULL, UNIQUE, CHECK, a foreign key, or a key without a value.
        case constraint
        /// The content of a body is larger than its request allows, or no column can hold a value.
        case limit
        /// A commit would delete or update more rows than its declaration allows, or its rows do not meet an expectation.
        case blocked
        /// The before-images of a run were not kept, or another program has changed the rows since.
        case history
        /// Two sources claim to mirror the same rows.
        case conflict
        /// The store's file is no longer where it was opened.
        case replaced
        /// SQLite failed: disk full, I/O error, interrupted.
        case database
    }

    public var code: Code
    /// The problem, and what to do about it.
    package private(set) var finding: Finding
    /// The mistakes in the configuration that ``message`` lists; empty for another error.
    private var mistakes: [Mistake] = []
    /// The limits that a commit would exceed, and the expectations that its rows do not meet, of the code `blocked`.
    package var exceeded: [ExceededLimit] = []
    /// The counts of a commit that is blocked; nil for other errors.
    package var counts: MergeCounts?
    /// The positions of the requests whose records the store refuses, where they are known.
    package var requests: [Int] = []

    /// - Parameter help: what to do about it.
    public init(_ code: Code, _ text: String, help: String? = nil) {
        self.code = code
        finding = Finding(text, help: help)
    }

    package init(_ code: Code, _ finding: Finding) {
        self.code = code
        self.finding = finding
    }

    /// Creates the error of declarations that contradict the store. Of equal mistakes, the first stays.
    package init(_ mistakes: [Mistake]) {
        var known: Set<Mistake> = []
        let mistakes = mistakes.filter { known.insert($0).inserted }
        self.init(.schema, mistakes.map(\.description).joined(separator: "\n"))
        self.mistakes = mistakes
    }

    /// The problem, and what to do about it, in one sentence.
    public var message: String {
        get { finding.description }
        set { finding = Finding(newValue) }
    }

    public var description: String { message }

    /// Returns the mistakes in the configuration that the error names.
    ///
    /// - Parameter place: the place of an error that names none.
    package func mistakes(at place: KeyPlace) -> [Mistake] { mistakes.isEmpty ? [Mistake(place, finding)] : mistakes }

    /// Returns the text for a column without a value that its table requires.
    package static func unfilled(_ column: some StringProtocol) -> String {
        "column '\(column)' must not be NULL, and the run gives it no value; map it, or give it a DEFAULT"
    }
}
