/// The place at which a document stops being TOML, with the reason and a correction.
package struct TOMLError: Error, Equatable, CustomStringConvertible {
    /// The line, counted from 1.
    package var line: Int
    /// The column, counted from 1 in Unicode characters.
    package var column: Int
    package var message: String

    package init(line: Int, column: Int, message: String) {
        self.line = line
        self.column = column
        self.message = message
    }

    package var description: String { "line \(line), column \(column): \(message)" }
}
