import XMLStream

/// Follows a document and builds each record's element; an element of a record inside it belongs to the outer one.
class RecordTreeHandler: XMLStreamHandler {
    let session: DecodingSession
    private let path: RecordPath?
    private let name: Int32

    /// - Parameter path: the elements that are records; the root where it is nil.
    init(path: RecordPath?, session: DecodingSession) {
        self.session = session
        self.path = path
        name = session.tree.names.number(of: path?.name ?? "")
        session.clear()
        session.tree.names.beginDocument()
        super.init()
    }

    /// A record's element has ended, and is the session's tree.
    func didEndRecord() throws {}

    override final func didStartElement(in stream: XMLStreamParser) throws {
        if !session.tree.isOpen {
            guard isRecord(stream) else { return }
            session.clear()
        }
        try session.tree.beginElement(in: stream)
    }

    override final func didEndElement(in stream: XMLStreamParser) throws {
        guard session.tree.isOpen else { return }
        try session.tree.endElement(in: stream)
        if !session.tree.isOpen { try didEndRecord() }
    }

    private func isRecord(_ stream: XMLStreamParser) -> Bool {
        guard let path else { return true }
        let number = session.tree.names.number(ofDocument: stream.nameIndex, stream.qualifiedName)
        return number == name && path.matchesAncestors(in: stream)
    }

    /// The root of the session's tree.
    static let rootPlace = ElementPlace(node: 0)
}
