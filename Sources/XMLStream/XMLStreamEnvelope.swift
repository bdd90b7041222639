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
