import FeedModel
import FeedStaging
import XMLStream

/// Passes the elements of one document to a registered class.
final class ClassHandler: XMLStreamHandler {
    private let parser: FeedParser
    /// Takes the content of an element that the parser wants as markup. The parser does not receive the elements in it.
    private var collector: ContentCollector?

    init(_ type: FeedParser.Type, context: WorkerContext, response: FeedResponse) {
        parser = type.init()
        super.init()
        parser.session = FeedParser.Session(context: context, response: response)
        parser.prefixes = NamespacePrefixes(type.namespaces)
    }

    override func didStartElement(in stream: XMLStreamParser) throws {
        if collector != nil { return try locating(stream) { try collector?.start(stream) } }
        // It is the same each time. To write it costs less than to look.
        parser.streamReference = .passUnretained(stream)
        try locating(stream) { try parser.didStartElement() }
        if let rules = parser.markupRules {
            parser.markupRules = nil
            collector = ContentCollector(rules, depth: stream.depth)
            stream.contentTakers += 1
        }
    }

    override func didEndElement(in stream: XMLStreamParser) throws {
        guard let depth = collector?.depth else { return try locating(stream) { try parser.didEndElement() } }
        if depth < stream.depth { return try locating(stream) { try collector?.end(stream) } }
        try locating(stream) {
            parser.markup = try collector?.content(stream)
            collector = nil
            stream.contentTakers -= 1
            try parser.didEndElement()
            parser.markup = nil
        }
    }

    override func didEndDocument() throws { try parser.didEndDocument() }

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
