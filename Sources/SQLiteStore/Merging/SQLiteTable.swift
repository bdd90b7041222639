import FeedModel
import FeedStaging
import GRDB
import FeedStores

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

    /// Reads a table without the foreign keys that refer to it; nil without one.
    init?(_ db: Database, named name: String) throws {
        guard let info = try TableInfo(db, table: name, schema: "main") else { return nil }
        try self.init(db, info, children: [])
    }

    static func id(_ name: String) -> TableID { name.lowercased() }

    var id: TableID { Self.id(info.name) }
    var name: String { info.name }
    var sql: String { "main.\(info.name.sqlIdentifier)" }
    var storedColumns: [any StoredColumn] { columns }
    var rowID: String? { info.rowID }
    var locator: [RowLocator] {
        let columns = info.rowID == nil ? info.primaryKey : info.generatedKey.map { [$0] } ?? []
        return info.locator.enumerated().map { index, sql in
            RowLocator(sql: sql, definition: "", column: columns.indices.contains(index) ? columns[index] : nil)
        }
    }
    var isLocatedByPlace: Bool { false }
    var parents: Set<TableID> { Set(info.foreignKeys.map { Self.id($0.parent) }).subtracting([id]) }
    // Foreign keys are checked at the end of the commit where a statement has broken them.
    var checksOwnRows: Bool { false }

    func storedColumn(_ name: String) -> (any StoredColumn)? { info.position(of: name).map { columns[$0] } }

    /// The columns of the primary key, where none of them can be NULL; a row id may change when the store is copied.
    var lastingKey: [String] {
        let isThere = primaryKey.allSatisfy { info.column($0)?.isNotNull == true }
        return isThere || !info.hasRowID || info.generatedKey != nil ? primaryKey : []
    }

    var mergeKey: [String]? {
        guard primaryKey.isEmpty else { return primaryKey }
        let isStored = { (name: String) in info.column(name)?.isGenerated == false }
        return info.uniqueIndexes.first { $0.allSatisfy { isStored($0.name) } }?.map(\.name)
    }

    func isThere(_ alias: String) -> String { "\(alias).\(info.rowID ?? primaryKey[0].sqlIdentifier) IS NOT NULL" }
}

struct SQLiteColumn: StoredColumn {
    let column: TableInfo.Column
    let collation: String

    var name: String { column.name }
    // Without a type, a column takes every value as it is.
    var definition: String { "" }
    var isNotNull: Bool { column.isNotNull }
    var isGenerated: Bool { column.isGenerated }
    var isComputed: Bool { column.isGenerated }

    func differs(_ left: String, from right: String, exactly: Bool) -> String {
        let differs = "\(left) IS NOT \(right) COLLATE BINARY"
        return exactly ? "(\(differs) OR typeof(\(left)) <> typeof(\(right)))" : differs
    }

    func value(_ alias: String, comparedWith other: any StoredColumn) -> String { "\(alias).\(sql)" }

    func value(_ row: any SQLRow, _ index: Int) throws -> StoredValue { row.storedValue(index) }
}
