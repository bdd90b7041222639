public import FeedStore
import GRDB
public import XMLRecords

/// A stack's parser made of a record's type: every element at a path is decoded and inserted, one at a time.
///
/// ```swift
/// struct Food: XMLRecord, FeedRecord {
///     var id: Int
///     var name: String
/// }
///
/// let parser = RecordParser<Food>(element: "menu/food")
/// ```
///
/// What a record does not accept is passed over (``XMLRecord/accepts(_:)``); an element that does not decode discards
/// the run with an ``XMLRecordError``. An element of the same name inside a record belongs to that record.
public struct RecordParser<Record: XMLRecord & FeedRecord>: RecordParsing {
    public let name: String
    public let version: Int
    public let tables: [String]
    private let path: RecordPath

    /// - Parameters:
    ///   - element: which elements are records, with names as the document writes them: `food`, `menu/food`, or
    ///     `/menu/food` from the root. ``XMLRecord/xmlElement`` where it is nil.
    ///   - name: under which requests name the parser.
    ///   - version: raise it when the same document would now give other rows.
    ///   - tables: what the parser writes; the record's own table where it is nil. To be given where
    ///     ``XMLRecord/recordType(for:)`` chooses types of others.
    /// - Precondition: `element` is names with a slash between two of them.
    public init(
        element: String? = nil, name: String = String(describing: Record.self), version: Int = 1,
        tables: [String]? = nil
    ) {
        self.name = name
        self.version = version
        self.tables = tables ?? [Record.databaseTableName]
        path = RecordPath(element ?? Record.xmlElement)
    }

    public func _makeStream(context: WorkerContext) -> RecordStream {
        let inserter = RecordInserter<Record>(context: context)
        return RecordStream(handler: RecordTreeHandler(path: path) { try inserter.insert($0) })
    }
}
