/// What a configuration asks of whatever parses bodies.
package protocol BodyParsing: Sendable {
    /// The parsers that requests may name, in alphabetical order.
    var names: [String] { get }

    /// The tables that whatever parses a body declares to write.
    func tables(of content: BodyContent) -> [String]

    /// Whether a text converts to the value of a column.
    ///
    /// - Parameter isConstant: whether its numbers are written as TOML writes them, whatever the feed does.
    func converts(_ text: String, in column: ColumnMapping, isConstant: Bool) -> Bool

    /// What a message says was expected of a column's text.
    func expectation(of column: ColumnMapping) -> String
}
