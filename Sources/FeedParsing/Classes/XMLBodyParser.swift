import FeedModel
import FeedStaging
import XMLStream

/// Parses one response's body with a registered class.
final class XMLBodyParser: XMLStreamHandler, BodyParser {
    private let parser: FeedParser
    private let response: FeedResponse
    private lazy var stream = XMLStreamParser(response, handler: self)
    /// Takes the content of an element that the parser wants as markup. The parser does not receive the elements in it.
    private var collector: ContentCollector?

    init(_ type: FeedParser.Type, context: WorkerContext, response: FeedResponse) {
        parser = type.init()
        self.response = response
        super.init()
        parser.session = FeedParser.Session(context: context, response: response)
        parser.prefixes = NamespacePrefixes(type.namespaces)
        parser.streamReference = Unmanaged.passUnretained(stream)
    }

    var streams: [XMLStreamParser] { [stream] }

    func parse(_ bytes: UnsafeRawBufferPointer) throws { try stream.parse(bytes) }

    func finish() throws {
        try stream.finish()
        try parser.didEndDocument()
    }

    override func didStartElement(in stream: XMLStreamParser) throws {
        if collector != nil { return try locating(stream) { try collector?.start(stream) } }
        try locating(stream) { try parser.didStartElement() }
        if let rules = parser.markupRules {
            parser.markupRules = nil
            collector = ContentCollector(rules, depth: stream.depth)
            stream.keepsIndentation = true
        }
    }

    override func didEndElement(in stream: XMLStreamParser) throws {
        guard let depth = collector?.depth else { return try locating(stream) { try parser.didEndElement() } }
        if depth < stream.depth { return try locating(stream) { try collector?.end(stream) } }
        try locating(stream) {
            parser.markup = try collector?.content(stream)
            collector = nil
            stream.keepsIndentation = false
            try parser.didEndElement()
            parser.markup = nil
        }
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

/// An error that a parser threw, with its place in the document.
package struct ParserError: Error, CustomStringConvertible {
    var element: String
    var line: Int
    var underlying: any Error

    package var description: String { "line \(line), in <\(element)>: the parser threw \(underlying)" }
}
