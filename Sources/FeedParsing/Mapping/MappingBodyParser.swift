package import FeedModel
import FeedStaging
package import XMLStream

/// Parses one response's body by a mapping.
package final class MappingBodyParser: BodyParser {
    package let handler: MappingHandler
    private let stream: XMLStreamParser
    private let allowsEmpty: Bool

    package init(_ handler: MappingHandler, _ response: FeedResponse, allowsEmpty: Bool) {
        self.handler = handler
        self.allowsEmpty = allowsEmpty
        stream = XMLStreamParser(response, handler: handler)
    }

    package var streams: [XMLStreamParser] { [stream] }

    package func parse(_ bytes: UnsafeRawBufferPointer) throws { try stream.parse(bytes) }

    package func begin(columns: [String]) throws { try handler.check(columns: columns) }

    package func finish() throws {
        try stream.finish()
        try handler.didEndDocument(allowsEmpty: allowsEmpty)
    }
}

/// The error for a record that its mapping does not allow.
package struct MappingError: Error, CustomStringConvertible {
    package var description: String

    init(_ message: String) { description = message }

    init(table: String, column: String, element: String, line: Int, found: String?, expected: String) {
        let value = found.map { "\"\($0.count > 100 ? $0.prefix(100) + "…" : $0)\" is not \(expected)" } ?? expected
        description = "line \(line), <\(element)>: column '\(column)' of table '\(table)': \(value)"
    }
}
