import XMLStream

/// Decodes the records of a document into an array.
final class RecordCollector<Record: Decodable>: RecordTreeHandler {
    private(set) var values: [Record] = []
    private let record: (any XMLRecord.Type)?

    init(_ type: Record.Type, path: RecordPath?, session: DecodingSession) {
        record = type as? any XMLRecord.Type
        super.init(path: path, session: session)
    }

    func run(charset: String?, _ parse: (XMLStreamParser) throws -> Void) throws {
        let stream = XMLStreamParser(charset: charset, handler: self)
        try withExtendedLifetime(self) {
            try parse(stream)
            try stream.finish()
        }
    }

    override func didEndRecord() throws {
        if let record, !record.accepts(session.view(0)) { return }
        values.append(try session.decode(Record.self, at: Self.rootPlace, in: 0, for: session.root))
    }
}
