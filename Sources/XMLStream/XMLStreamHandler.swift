/// What follows a document while an ``XMLStreamParser`` reads it.
///
/// The stream's `name`, `text`, `attributes` and so on speak of the element in question for as long as a call
/// lasts. An error thrown ends the document: ``XMLStreamParser/parse(_:)`` throws it to its caller.
public protocol XMLStreamHandler: AnyObject {
    /// An element has begun; its attributes are known, its text and children are still to come.
    func didStartElement(in stream: XMLStreamParser) throws
    /// An element has ended; its attributes and its own text are known.
    func didEndElement(in stream: XMLStreamParser) throws
}
