/// The facts about parsers that a configuration needs.
package protocol BodyParsing: Sendable {
    /// The parsers that requests may name, in alphabetical order.
    var names: [String] { get }

    /// Returns the tables that the parser of a body declares to write.
    func tables(of content: BodyContent) -> [String]

    /// Returns true where a text converts to the value of a column.
    ///
    /// - Parameter isConstant: true where its numbers are written as in TOML, even if the feed writes them differently.
    func converts(_ text: String, in column: ColumnMapping, isConstant: Bool) -> Bool

    /// Returns what is wrong with the expressions of a table: those of its derived columns, and its filter.
    func expressionProblems(of table: TableMapping) -> [ExpressionProblem]

    /// Returns a message's description of the text that a column expects.
    func expectation(of column: ColumnMapping) -> String
}
