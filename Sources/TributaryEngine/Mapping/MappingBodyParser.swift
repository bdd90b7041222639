import FeedModel
import FeedStore
import XMLStream

/// Parses one response's body by a mapping.
final class MappingBodyParser: BodyParser {
    let handler: MappingHandler
    private let stream: XMLStreamParser
    private let allowsEmpty: Bool

    init(_ handler: MappingHandler, _ response: FeedResponse, allowsEmpty: Bool) {
        self.handler = handler
        self.allowsEmpty = allowsEmpty
        stream = XMLStreamParser(response, handler: handler)
    }

    var streams: [XMLStreamParser] { [stream] }

    func parse(_ bytes: UnsafeRawBufferPointer) throws { try stream.parse(bytes) }

    func finish() throws {
        try stream.finish()
        try handler.didEndDocument(allowsEmpty: allowsEmpty)
    }
}
