import FeedStaging
import XMLRecords

/// Inserts the records of a document into a worker context. The element of a record determines its type.
final class RecordInserter<Record: XMLRecord & FeedRecord> {
    private let context: WorkerContext
    private var insertable: [ObjectIdentifier: any (XMLRecord & FeedRecord).Type] = [:]

    init(context: WorkerContext) { self.context = context }

    func insert(_ record: EndedRecord) throws {
        let element = record.element(for: Record.self)
        guard Record.accepts(element) else { return }
        let type = Record.recordType(for: element)
        if type == Record.self { try context.insert(record.make(Record.self)) } else { try insert(record, as: type) }
    }

    private func insert(_ record: EndedRecord, as type: any XMLRecord.Type) throws {
        let id = ObjectIdentifier(type)
        if insertable[id] == nil { insertable[id] = type as? any (XMLRecord & FeedRecord).Type }
        guard let chosen = insertable[id] else {
            throw record.refusal("is a \(type), which is not a FeedRecord and cannot be inserted")
        }
        func insert<Chosen: XMLRecord & FeedRecord>(_ type: Chosen.Type) throws {
            try context.insert(record.make(type))
        }
        try insert(chosen)
    }
}
