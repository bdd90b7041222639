import FeedModel
import FeedStaging
import GRDB
import Merging
import StoreSQL

/// A table of the main store for a merge: its definition, and the foreign keys on both of its sides.
struct SQLiteTable: StoredTable {
    let info: TableInfo
    let columns: [SQLiteColumn]
    let children: [ReferringKey]

    init(_ db: Database, _ info: TableInfo, children: [ReferringKey]) throws {
        self.info = info
        self.children = children
        let comparisons = try db.comparisons(of: Set(info.columns.map { $0.name.lowercased() }), in: info.name)
        columns = info.columns.map {
            SQLiteColumn(column: $0, collation: comparisons[$0.name.lowercased()]?.collation ?? "BINARY")
        }
    }

    static func id(_ name: String) -> TableID { name.lowercased() }

    var id: TableID { Self.id(info.name) }
    var name: String { info.name }
    var sql: String { "main.\(info.name.sqlIdentifier)" }
    var storedColumns: [any StoredColumn] { columns }
    var locator: [RowLocator] { info.locator.map { RowLocator(sql: $0, definition: "") } }
    var isLocatedByPlace: Bool { false }
    var parents: Set<TableID> { Set(info.foreignKeys.map { Self.id($0.parent) }).subtracting([id]) }
    // Foreign keys are checked at the end of the commit where a statement has broken them.
    var checksOwnRows: Bool { false }

    func storedColumn(_ name: String) -> (any StoredColumn)? { info.position(of: name).map { columns[$0] } }
}

struct SQLiteColumn: StoredColumn {
    let column: TableInfo.Column
    let collation: String

    var name: String { column.name }
    // Without a type, a column takes every value as it is.
    var definition: String { "" }
    var isNotNull: Bool { column.isNotNull }
    var isGenerated: Bool { column.isGenerated }

    func differs(_ left: String, from right: String, exactly: Bool) -> String {
        let differs = "\(left) IS NOT \(right) COLLATE BINARY"
        return exactly ? "(\(differs) OR typeof(\(left)) <> typeof(\(right)))" : differs
    }

    func value(_ alias: String, comparedWith other: any StoredColumn) -> String { "\(alias).\(sql)" }

    func value(_ row: any SQLRow, _ index: Int) throws -> StoredValue { row.storedValue(index) }
}
