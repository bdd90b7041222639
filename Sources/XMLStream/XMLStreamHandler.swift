/// The base class of all handlers, which receive a document's elements while an ``XMLStreamParser`` reads it.
///
/// The stream's `name`, `text`, `attributes` and so on describe the element in question during the call. An error
/// thrown ends the document: ``XMLStreamParser/parse(_:)`` throws it to its caller.
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
