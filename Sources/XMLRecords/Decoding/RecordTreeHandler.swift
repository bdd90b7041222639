package import XMLStream

/// Builds the element of each record while a document is read, and passes it on when it has ended. An element inside a
/// record is part of that record, even if it matches the path too.
package final class RecordTreeHandler: XMLStreamHandler {
    private let session: DecodingSession
    private let path: RecordPath?
    /// True if the name is that of the records, by the number of the name in the document.
    private var isName: [Bool?] = []
    private let receive: (EndedRecord) throws -> Void

    /// - Parameters:
    ///   - path: the elements that are records; nil for the root.
    ///   - receive: called for each record. The record is valid until the call returns.
    init(path: RecordPath?, session: DecodingSession, receive: @escaping (EndedRecord) throws -> Void) {
        self.session = session
        self.path = path
        self.receive = receive
        session.clear()
        session.tree.names.beginDocument()
        super.init()
    }

    /// Creates a handler for the records of a run, whose memory is bounded.
    package convenience init(path: RecordPath, receive: @escaping (EndedRecord) throws -> Void) {
        self.init(
            path: path, session: DecodingSession(byteLimit: ElementTree.byteLimitOfRun), receive: receive)
    }

    package override func didStartElement(in stream: XMLStreamParser) throws {
        if !session.tree.isOpen {
            guard isRecord(stream) else { return }
            session.clear()
        }
        try session.tree.beginElement(in: stream)
    }

    package override func didEndElement(in stream: XMLStreamParser) throws {
        guard session.tree.isOpen else { return }
        try session.tree.endElement(in: stream)
        if !session.tree.isOpen { try receive(EndedRecord(session: session)) }
    }

    private func isRecord(_ stream: XMLStreamParser) -> Bool {
        guard let path else { return true }
        let index = Int(stream.nameIndex)
        while isName.count <= index { isName.append(nil) }
        if isName[index] == nil { isName[index] = path.matches(stream.name) }
        return isName[index] == true && path.matchesAncestors(in: stream)
    }
}

/// A record whose element has ended: the root of its session's tree.
package struct EndedRecord {
    let session: DecodingSession

    private static let place = ElementPlace(node: 0)

    package func element(for record: any XMLRecord.Type) -> XMLElementView { session.view(0, for: record) }

    /// Decodes a value of any type, or of the type that its record chooses.
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try session.decode(type, at: Self.place, in: 0, for: session.root)
    }

    /// Decodes a value with the type's own `init(from:)`.
    package func make<Record: XMLRecord>(_ type: Record.Type) throws -> Record {
        try session.make(type, session.layout(for: type), at: Self.place, in: 0, for: session.root)
    }

    package func refusal(_ reason: String) -> XMLRecordError {
        session.refusal(reason, at: Self.place, in: 0, for: session.root)
    }
}
