public import FeedStaging
import GRDB
public import XMLRecords

/// A parser made of a record type: every element at a path is decoded and inserted, one at a time.
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
/// Elements that the record type does not accept are skipped (``XMLRecord/accepts(_:)``). An element that does not
/// decode discards the run with an ``XMLRecordError``. An element of the same name inside a record belongs to that
/// record.
public struct RecordParser<Record: XMLRecord & FeedRecord>: RecordParsing {
    public let name: String
    public let version: Int
    public let tables: [String]
    private let path: RecordPath

    /// - Parameters:
    ///   - element: the elements that are records: `food`, `menu/food`, or `/menu/food` from the root. A prefix stands for
    ///     its namespace in ``XMLRecord/xmlNamespaces``; one that is not there is the document's. ``XMLRecord/xmlElement`` where it is nil.
    ///   - name: the name of the parser in requests.
    ///   - version: raise it when the same document would now give other rows.
    ///   - tables: the tables that the parser writes; the record's own table where it is nil. Required where
    ///     ``XMLRecord/recordType(for:)`` chooses types with other tables.
    /// - Precondition: `element` consists of names separated by single slashes.
    public init(
        element: String? = nil, name: String = String(describing: Record.self), version: Int = 1,
        tables: [String]? = nil
    ) {
        self.name = name
        self.version = version
        self.tables = tables ?? [Record.databaseTableName]
        path = RecordPath(element ?? Record.xmlElement, namespaces: Record.xmlNamespaces)
    }

    public func _makeStream(context: WorkerContext) -> RecordStream {
        let inserter = RecordInserter<Record>(context: context)
        return RecordStream(handler: RecordTreeHandler(path: path) { try inserter.insert($0) })
    }
}
