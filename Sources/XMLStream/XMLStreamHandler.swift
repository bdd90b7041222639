/// The base class of all handlers, which receive a document's elements while an ``XMLStreamParser`` reads it.
///
/// During a call, the stream's `name`, `text`, `attributes` and so on describe the current element. An error thrown
/// ends the document: ``XMLStreamParser/parse(_:)`` throws it to its caller.
///
/// A class and not a protocol, because the parser calls its handler twice for each element without retaining it. An
/// existential does not allow that.
open class XMLStreamHandler {
    public init() {}

    /// Called when an element has begun: its attributes are known, its text and children are not.
    open func didStartElement(in stream: XMLStreamParser) throws {}

    /// Called when an element has ended: its attributes and its own text are known.
    open func didEndElement(in stream: XMLStreamParser) throws {}
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
