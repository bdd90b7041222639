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

    /// Called in place of the two calls for an element that has only text, in a document that is not XML.
    ///
    /// - Parameter name: the number of its name among the names of the document.
    /// - Returns: false to receive the two calls.
    open func takeElement(_ name: Int32, _ text: UnsafeBufferPointer<UInt8>) -> Bool { false }

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

extension XMLStreamParser {
    /// Puts a handler between the parser and the document's own, before the first byte is read. It passes on the elements
    /// inside an envelope, such as a SOAP message, as if they were the document. The parser retains it.
    ///
    /// - Returns: the document's own handler. It is not retained: it owns the parser or outlives it.
    package func enclose(by envelope: XMLStreamHandler) -> Unmanaged<XMLStreamHandler> {
        defer { handler = .passUnretained(envelope) }
        self.envelope = envelope
        return handler
    }

    /// Passes on the present element as if the elements of an envelope around it were not there.
    package func passOn(within depth: Int, _ body: () throws -> Void) rethrows {
        outerDepth = depth
        defer { outerDepth = 0 }
        try body()
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
