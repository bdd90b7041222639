/// What a commit would do to the rows of one scope of a table, where that is more than its declaration allows.
package struct ExceededLimit: Sendable, Equatable, Codable {
    /// The table's name, in lower case.
    package let table: String
    package let scope: [String: String]
    /// The number of rows that the commit would delete, and of those that it would update.
    package let deleted: Int
    package let updated: Int
    /// The change, the limit and the figures, for people.
    package let message: String

    package init(_ rows: ScopedRows, deleted: Int, updated: Int, _ message: String) {
        table = rows.table
        scope = rows.scope
        self.deleted = deleted
        self.updated = updated
        self.message = message
    }

    /// Returns true where another commit would change the same scope, and no more rows of it.
    package func covers(_ other: ExceededLimit) -> Bool {
        table == other.table && scope == other.scope && other.deleted <= deleted && other.updated <= updated
    }

    /// Returns true where two commits exceed the same limits by the same numbers of rows.
    package static func areEqual(_ left: [ExceededLimit], _ right: [ExceededLimit]) -> Bool {
        left.count == right.count && zip(left, right).allSatisfy { $0.covers($1) && $1.covers($0) }
    }
}
