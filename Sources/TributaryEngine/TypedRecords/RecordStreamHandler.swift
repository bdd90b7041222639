import FeedStore
import XMLStream

/// Decodes the records of a document one at a time and inserts them into a worker context.
final class RecordStreamHandler<Record: XMLRecord & FeedRecord>: RecordTreeHandler {
    private let context: WorkerContext
    private var insertable: [ObjectIdentifier: any (XMLRecord & FeedRecord).Type] = [:]

    init(element: RecordPath, context: WorkerContext) {
        self.context = context
        super.init(path: element, session: DecodingSession(byteLimit: ElementTree.byteLimitOfRun))
    }

    override func didEndRecord() throws {
        let view = session.view(0)
        guard Record.accepts(view) else { return }
        let type = Record.recordType(for: view)
        if type == Record.self { try insert(Record.self) } else { try insert(any: type) }
    }

    private func insert<Chosen: XMLRecord & FeedRecord>(_ type: Chosen.Type) throws {
        let plan = try session.plan(for: type)
        try context.insert(session.make(type, plan, at: Self.rootPlace, in: 0, for: session.root))
    }

    private func insert(any type: any XMLRecord.Type) throws {
        let id = ObjectIdentifier(type)
        if insertable[id] == nil { insertable[id] = type as? any (XMLRecord & FeedRecord).Type }
        guard let chosen = insertable[id] else {
            throw session.refusal(
                "is a \(type), which is not a FeedRecord and cannot be inserted", at: Self.rootPlace, in: 0,
                for: session.root)
        }
        try insert(chosen)
    }
}
