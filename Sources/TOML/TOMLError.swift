/// Where a document stops being TOML, why, and what to write instead.
package struct TOMLError: Error, Equatable, CustomStringConvertible {
    /// Counted from 1.
    package var line: Int
    /// Counted from 1, in characters as Unicode counts them.
    package var column: Int
    package var message: String

    package init(line: Int, column: Int, message: String) {
        self.line = line
        self.column = column
        self.message = message
    }

    package var description: String { "line \(line), column \(column): \(message)" }
}
