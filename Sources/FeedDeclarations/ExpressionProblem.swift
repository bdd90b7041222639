/// A mistake in the SQL expression of a derived column or of a table's filter.
package struct ExpressionProblem: Error, Sendable, Equatable {
    /// A name that the expression uses and nothing has.
    package struct UnknownName: Sendable, Equatable {
        package var name: String
        /// The names that there are.
        package var known: [String]

        package init(name: String, known: [String]) {
            self.name = name
            self.known = known
        }
    }

    /// The column whose expression it is; nil for the table's filter.
    package var column: String?
    package var message: String
    package var unknown: UnknownName?

    package init(column: String?, message: String, unknown: UnknownName? = nil) {
        self.column = column
        self.message = message
        self.unknown = unknown
    }
}
