package import FeedModel
public import FeedStaging
import GRDB
public import XMLRecords
package import XMLStream

/// A parser that requests name as their `parser`: a class, or a record type.
///
/// ```swift
/// let parsers: [Parser] = [.class(CompaniesParser.self), .record(Food.self, element: "menu/food")]
/// ```
public struct Parser: Sendable {
    /// The name of the parser in `sources.toml`.
    public let name: String
    /// Changes when the same document would give other rows.
    public let version: Int
    /// The tables that the parser writes.
    public let tables: [String]
    /// Idempotent SQL that creates the tables; empty for none.
    package let schema: String
    /// The tables that are derived from record types.
    package private(set) var tableSchemas: [TableSchema] = []
    /// The columns that identify the rows of a table, by table.
    package let keys: [String: [String]]
    /// The columns, by table, that are written only for new rows.
    package let insertOnly: [String: Set<String>]
    private let make: @Sendable (FeedResponse, WorkerContext) -> XMLStreamHandler

    /// Makes a parser of a class. Its name is the class's.
    public static func `class`(_ type: FeedParser.Type) -> Parser {
        Parser(
            name: String(describing: type), version: type.version, tables: type.tables, schema: type.schema,
            keys: type.keys, insertOnly: type.insertOnly
        ) { response, context in
            ClassHandler(type, context: context, response: response)
        }
    }

    /// Makes a parser of a record type: every element at a path is decoded and inserted, one at a time.
    ///
    /// ```swift
    /// struct Food: XMLRecord, FeedRecord {
    ///     static let databaseKey = ["id"]
    ///     var id: Int
    ///     var name: String
    /// }
    ///
    /// let parser = Parser.record(Food.self, element: "menu/food")
    /// ```
    ///
    /// Elements that the record type does not accept are skipped (``XMLRecord/accepts(_:)``). An element that does not
    /// decode discards the run with an ``XMLRecordError``. An element of the same name inside a record belongs to that
    /// record. The table of a type with a ``FeedRecord/databaseKey`` is created where it does not exist.
    ///
    /// - Parameters:
    ///   - element: the elements that are records: `food`, `menu/food`, or `/menu/food` from the root. A prefix
    ///     stands for its namespace in ``XMLRecord/xmlNamespaces``; one that is not there is the document's.
    ///     ``XMLRecord/xmlElement`` if it is nil.
    ///   - name: the name of the parser in requests; the type's name if it is nil.
    ///   - version: raise it when the same document would now give other rows.
    ///   - tables: the tables that the parser writes; the record's own table if it is nil. Required where
    ///     ``XMLRecord/recordType(for:)`` chooses types with other tables, which are not created.
    /// - Precondition: `element` consists of names separated by single slashes, and the columns of a type with a key can be
    ///   derived: a property that is not optional has a type of Swift's, Foundation's, or one that is `CaseIterable`.
    public static func record<Record: XMLRecord & FeedRecord>(
        _ type: Record.Type, element: String? = nil, name: String? = nil, version: Int = 1, tables: [String]? = nil
    ) -> Parser {
        let name = name ?? String(describing: type)
        let path = RecordPath(element ?? type.xmlElement, namespaces: type.xmlNamespaces)
        let key = type.databaseKey
        var parser = Parser(
            name: name, version: version, tables: tables ?? [type.databaseTableName], schema: "",
            keys: key.isEmpty ? [:] : [type.databaseTableName: key], insertOnly: [:]
        ) { _, context in
            let inserter = RecordInserter<Record>(context: context)
            return RecordTreeHandler(path: path) { try inserter.insert($0) }
        }
        if !key.isEmpty {
            parser.tableSchemas = [RecordTable.schema(of: type, place: KeyPlace(path: "parser '\(name)'"))]
        }
        return parser
    }

    /// Returns the handler of one document.
    package func makeHandler(_ response: FeedResponse, context: WorkerContext) -> XMLStreamHandler {
        make(response, context)
    }
}

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
