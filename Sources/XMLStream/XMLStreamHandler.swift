/// The base class of all handlers, which receive a document's elements while an ``XMLStreamParser`` reads it.
///
/// During a call, the stream's `name`, `text`, `attributes` and so on describe the current element. An error thrown
/// ends the document: ``XMLStreamParser/parse(_:)`` throws it to its caller.
///
/// A class and not a protocol, because the parser calls its handler twice for each element without retaining it. An
/// existential does not allow that.
open class XMLStreamHandler {
    public init() {}

    /// Called with the names of the columns of a document in CSV, before its first record.
    open func didReadHeader(_ columns: [String]) throws {}

    /// Called with a line of a document in CSV that is no record, where such lines are skipped.
    ///
    /// - Parameter reason: what is wrong with it.
    open func didReject(line: String, reason: String) throws {}

    /// Called when an element has begun: its attributes are known, its text and children are not.
    open func didStartElement(in stream: XMLStreamParser) throws {}

    /// Called when an element has ended: its attributes and its own text are known.
    open func didEndElement(in stream: XMLStreamParser) throws {}

    /// Called when the document has ended and was well-formed.
    open func didEndDocument() throws {}
}

/// The handlers of one document, in the order in which they receive each element.
package final class XMLHandlerList: XMLStreamHandler {
    private let handlers: [XMLStreamHandler]
    /// The same without reference counts: they are read twice for each element.
    private let calls: UnsafeMutableBufferPointer<Unmanaged<XMLStreamHandler>>

    /// Returns one handler in place of several. It retains them, and costs nothing where there is only one.
    package static func joining(_ handlers: [XMLStreamHandler]) -> XMLStreamHandler {
        if handlers.isEmpty { return XMLStreamHandler() }
        return handlers.count == 1 ? handlers[0] : XMLHandlerList(handlers)
    }

    private init(_ handlers: [XMLStreamHandler]) {
        self.handlers = handlers
        calls = .allocate(capacity: handlers.count)
        _ = calls.initialize(from: handlers.map { .passUnretained($0) })
        super.init()
    }

    deinit { calls.deallocate() }

    package override func didReadHeader(_ columns: [String]) throws {
        for handler in handlers { try handler.didReadHeader(columns) }
    }

    package override func didReject(line: String, reason: String) throws {
        for handler in handlers { try handler.didReject(line: line, reason: reason) }
    }

    package override func didStartElement(in stream: XMLStreamParser) throws {
        for handler in calls { try handler._withUnsafeGuaranteedRef { try $0.didStartElement(in: stream) } }
    }

    package override func didEndElement(in stream: XMLStreamParser) throws {
        for handler in calls { try handler._withUnsafeGuaranteedRef { try $0.didEndElement(in: stream) } }
    }

    package override func didEndDocument() throws {
        for handler in handlers { try handler.didEndDocument() }
    }
}

/// A handler between a parser and the document's own handler. It passes on one of the elements inside an envelope, such
/// as a SOAP message, as if that were the document.
open class XMLStreamEnvelope: XMLStreamHandler {
    // Not retained: the document's handler owns the parser or outlives it, as with the parser's own handler.
    fileprivate var inner: Unmanaged<XMLStreamHandler>?

    /// Tells the document's handler that an element inside the envelope has begun.
    public final func reportStart(of stream: XMLStreamParser, within depth: Int) throws {
        try inside(stream, depth) { try $0.didStartElement(in: stream) }
    }

    public final func reportEnd(of stream: XMLStreamParser, within depth: Int) throws {
        try inside(stream, depth) { try $0.didEndElement(in: stream) }
    }

    public final override func didEndDocument() throws {
        try inner?._withUnsafeGuaranteedRef { try $0.didEndDocument() }
    }

    private func inside(_ stream: XMLStreamParser, _ depth: Int, _ body: (XMLStreamHandler) throws -> Void) throws {
        stream.outerDepth = depth
        defer { stream.outerDepth = 0 }
        try inner?._withUnsafeGuaranteedRef(body)
    }
}

extension XMLStreamParser {
    /// Puts an envelope around the document, before its first byte is read. The parser retains it.
    public func open(_ envelope: XMLStreamEnvelope) {
        envelope.inner = handler
        handler = .passUnretained(envelope)
        self.envelope = envelope
    }
}

/// The own text of the open elements that a handler has not taken yet. A handler that takes whole elements finds an
/// element's text in parts: before each of its children, and at its end.
package struct XMLTextTail {
    /// The bytes taken of each open element's own text, by depth.
    private var taken: [Int] = []

    package init() {}

    /// Begins with the element that has just begun.
    package mutating func begin(in stream: XMLStreamParser) {
        while taken.count <= stream.depth { taken.append(0) }
        taken[stream.depth] = 0
    }

    /// Begins the element that has just begun, and takes the text of its parent before it.
    package mutating func takeBeforeElement(in stream: XMLStreamParser) -> UnsafeBufferPointer<UInt8> {
        begin(in: stream)
        return take(stream.textBytes(atDepth: stream.depth - 1), depth: stream.depth - 1)
    }

    /// Takes the rest of the text of the element that ends.
    package mutating func takeRest(in stream: XMLStreamParser) -> UnsafeBufferPointer<UInt8> {
        take(stream.textBytes, depth: stream.depth)
    }

    private mutating func take(_ text: UnsafeBufferPointer<UInt8>, depth: Int) -> UnsafeBufferPointer<UInt8> {
        let new = text.dropFirst(taken[depth])
        taken[depth] = text.count
        return UnsafeBufferPointer(rebasing: new)
    }
}
