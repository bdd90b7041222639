/// A change that a commit would make.
package struct PlannedChange: Sendable {
    package typealias Values = [(column: String, value: StoredValue)]

    package enum Operation: Sendable {
        case insert
        /// An update, with the row's present values by column.
        case update(old: Values)
        case delete
    }

    package var table: String
    package var operation: Operation
    /// The row after the change; the present row where it would be deleted.
    package var row: Values
    /// The columns that identify the row.
    package var key: [String]
    /// Columns, in lower case, whose values the commit itself finds in other rows.
    package var resolved: Set<String> = []

    package init(table: String, operation: Operation, row: Values, key: [String], resolved: Set<String> = []) {
        self.table = table
        self.operation = operation
        self.row = row
        self.key = key
        self.resolved = resolved
    }
}
