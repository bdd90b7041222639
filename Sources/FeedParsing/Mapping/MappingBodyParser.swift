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
