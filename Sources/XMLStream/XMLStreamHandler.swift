/// What follows a document while an ``XMLStreamParser`` reads it: the base class of every handler.
///
/// The stream's `name`, `text`, `attributes` and so on speak of the element in question for as long as a call
/// lasts. An error thrown ends the document: ``XMLStreamParser/parse(_:)`` throws it to its caller.
///
/// A class and not a protocol because the parser calls its handler twice an element without retaining it, which an
/// existential does not allow.
open class XMLStreamHandler {
    public init() {}

    /// An element has begun; its attributes are known, its text and children are still to come.
    open func didStartElement(in stream: XMLStreamParser) throws {}

    /// An element has ended; its attributes and its own text are known.
    open func didEndElement(in stream: XMLStreamParser) throws {}
}
