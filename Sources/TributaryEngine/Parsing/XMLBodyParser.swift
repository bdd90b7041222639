import FeedStore
import XMLStream

/// Parses one response's body with a registered class.
final class XMLBodyParser: XMLStreamHandler, BodyParser {
    private let parser: FeedParser
    private let response: FeedResponse
    private lazy var stream = XMLStreamParser(response, handler: self)

    init(_ type: FeedParser.Type, context: WorkerContext, response: FeedResponse) {
        parser = type.init()
        self.response = response
        super.init()
        parser.session = FeedParser.Session(context: context, response: response)
        parser.streamReference = Unmanaged.passUnretained(stream)
    }

    var streams: [XMLStreamParser] { [stream] }

    func parse(_ bytes: UnsafeRawBufferPointer) throws { try stream.parse(bytes) }

    func finish() throws {
        try stream.finish()
        try parser.didEndDocument()
    }

    override func didStartElement(in stream: XMLStreamParser) throws {
        try locating(stream) { try parser.didStartElement() }
    }

    override func didEndElement(in stream: XMLStreamParser) throws {
        try locating(stream) { try parser.didEndElement() }
    }

    @inline(__always)
    private func locating(_ stream: XMLStreamParser, _ callback: () throws -> Void) throws {
        do {
            try callback()
        } catch let error where !(error is StoreError) {
            throw ParserError(element: stream.qualifiedName, line: stream.line, underlying: error)
        }
    }
}
