import FeedConfiguration
import XMLStream

/// Reads a message in Protocol Buffers while it arrives, and passes it to an XML parser as elements.
///
/// The document is the element `protobuf`. A field is an element with the field's name, in the order of the bytes: a message
/// has its fields as children, any other value is text. Each value of a repeated field is an element.
final class ProtobufReader: DocumentReader, ProtobufEvents {
    private typealias Name = XMLStreamParser.ElementName

    private let stream: XMLStreamParser
    private let schema: ProtobufSchema
    private let root: Name
    /// The names of elements met so far, by the fields' names.
    private var names: [String: Name] = [:]
    private lazy var decoder = ProtobufDecoder(schema, self)
    private var hasBegun = false

    /// - Parameter stream: the parser that receives the document. It must get no other input.
    init(_ stream: XMLStreamParser, _ schema: ProtobufSchema) throws {
        self.stream = stream
        self.schema = schema
        root = try stream.elementName(ProtobufSchema.rootName)
    }

    /// - Throws: ``DocumentError`` with the offset if the bytes are not such a message; also the errors of the parser.
    func read(_ bytes: UnsafeRawBufferPointer) throws {
        if !hasBegun { try stream.start(root, line: 1) }
        hasBegun = true
        try locating { try decoder.read(bytes) }
    }

    /// - Throws: ``DocumentError`` if the document is not complete.
    func finish() throws {
        try read(UnsafeRawBufferPointer(start: nil, count: 0))
        try locating { try decoder.finish() }
        try stream.end(line: line)
    }

    func start(_ name: String) throws {
        try stream.start(try names[name] ?? elementName(name), line: line)
    }

    func text(_ bytes: UnsafeBufferPointer<UInt8>) throws { try stream.text(bytes, line: line) }

    func end() throws { try stream.end(line: line) }

    /// A message has no lines. The number of a field of the outermost message takes their place.
    private var line: Int { max(decoder.count, 1) }

    private func elementName(_ name: String) throws -> Name {
        let element = try stream.elementName(ElementNaming.name(name), written: Array(name.utf8))
        names[name] = element
        return element
    }

    private func locating(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as ProtobufProblem {
            throw DocumentError("byte \(error.offset) of the Protobuf body\(error.text)")
        }
    }
}
