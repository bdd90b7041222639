package import FeedModel
package import XMLStream

/// Passes a body through the stream parser to any handler.
package final class StreamBodyParser: BodyParser {
    // Kept here because the stream does not retain it.
    private let handler: XMLStreamHandler
    private let stream: XMLStreamParser

    package init(_ handler: XMLStreamHandler, _ response: FeedResponse) {
        self.handler = handler
        stream = XMLStreamParser(response, handler: handler)
    }

    package var streams: [XMLStreamParser] { [stream] }

    package func parse(_ bytes: UnsafeRawBufferPointer) throws { try stream.parse(bytes) }

    package func finish() throws { try stream.finish() }
}
