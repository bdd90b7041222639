/// The error for a record that its mapping does not allow.
package struct MappingError: Error, CustomStringConvertible {
    package var description: String

    init(_ message: String) { description = message }

    init(table: String, column: String, element: String, line: Int, found: String?, expected: String) {
        let value = found.map { "\"\($0.count > 100 ? $0.prefix(100) + "…" : $0)\" is not \(expected)" } ?? expected
        description = "line \(line), <\(element)>: column '\(column)' of table '\(table)': \(value)"
    }
}
