/// A condition on the rows that a stack has staged, which decides whether they are committed.
public struct Expectation: Sendable, Hashable {
    /// What becomes of a run for which the condition does not hold.
    package enum Failure: String, Sendable, CaseIterable {
        /// The run is discarded.
        case discard
        /// The run waits until it is accepted.
        case block
        /// The run is committed, with a note.
        case warn
    }

    /// An expression or a SELECT in SQLite's SQL, over the tables of the schema `staged`.
    package var sql: String
    /// The message for users if the condition is not true; nil for the SQL itself.
    package var message: String?
    package var onFailure: Failure

    package init(sql: String, message: String?, onFailure: Failure) {
        self.sql = sql
        self.message = message
        self.onFailure = onFailure
    }
}
