import FeedModel
import XMLStream

/// Leads a body through the stream parser to any handler.
final class StreamBodyParser: BodyParser {
    // The stream does not retain it.
    private let handler: XMLStreamHandler
    private let stream: XMLStreamParser

    init(_ handler: XMLStreamHandler, _ response: FeedResponse) {
        self.handler = handler
        stream = XMLStreamParser(response, handler: handler)
    }

    var streams: [XMLStreamParser] { [stream] }

    func parse(_ bytes: UnsafeRawBufferPointer) throws { try stream.parse(bytes) }

    func finish() throws { try stream.finish() }
}
