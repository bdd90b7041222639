/// A change limit that a commit would exceed in one scope of a table, or an expectation that its rows do not meet.
package struct ExceededLimit: Sendable, Equatable, Codable {
    /// The table's name, in lower case.
    package private(set) var table = ""
    package private(set) var scope: [String: String] = [:]
    /// The number of rows that the commit would delete, and the number that it would update.
    package private(set) var deleted = 0
    package private(set) var updated = 0
    /// The identity of the expectation; nil for a limit.
    package private(set) var expectation: String?
    /// The change, the limit and the figures, or the values that were found, for users.
    package let message: String

    package init(_ rows: ScopedRows, deleted: Int, updated: Int, _ message: String) {
        table = rows.table
        scope = rows.scope
        self.deleted = deleted
        self.updated = updated
        self.message = message
    }

    /// - Parameter identity: distinguishes the expectation from others of the source.
    package init(expectation identity: String, _ message: String) {
        expectation = identity
        self.message = message
    }

    /// Returns true if another commit would change no more rows of the same scope, or misses the same expectation.
    package func covers(_ other: ExceededLimit) -> Bool {
        table == other.table && scope == other.scope && expectation == other.expectation && other.deleted <= deleted
            && other.updated <= updated
    }

    /// Returns true if two commits exceed the same limits by the same numbers of rows.
    package static func areEqual(_ left: [ExceededLimit], _ right: [ExceededLimit]) -> Bool {
        left.count == right.count && zip(left, right).allSatisfy { $0.covers($1) && $1.covers($0) }
    }
}
