import FeedModel
import FeedStaging
import FeedStores
import Foundation
import GRDB
import Merging
import StoreSQL

/// Values that rows have for a moment, while others take their own.
extension SQLiteMergeDriver {
    // Only a statement that fails for a unique value costs anything.
    func mayConflict(_ table: StagingTable, _ stored: any StoredTable) throws -> Bool { true }

    func vacate(
        _ columns: [any StoredColumn], of table: any StoredTable, _ rows: Vacating, asNull: Bool,
        in merge: MergeContext
    ) throws -> Bool {
        let list = try merge.makeList("vacated", of: table, .update)
        try db.execute(sql: "PRAGMA ignore_check_constraints = ON")
        let result = Result { try vacate(columns, rows, list, asNull: asNull) }
        do {
            try db.execute(sql: "PRAGMA ignore_check_constraints = OFF")
        } catch let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT {
            // The connection outlives the commit that is being stopped, so the pragma must be reset.
            try db.execute(sql: "PRAGMA ignore_check_constraints = OFF")
        }
        do {
            return try result.get()
        } catch let error as DatabaseError where error.isAboutValues {
            return false
        }
    }

    private func vacate(
        _ columns: [any StoredColumn], _ rows: Vacating, _ list: RowList, asNull: Bool
    ) throws -> Bool {
        let table = list.table
        let (source, order) = rows.rows(changing: columns, dialect)
        let count = try execute(
            dialect.append(
                to: list, list.located, table.locators("m"), from: SQLText(source), order: order))
        guard count > 0 else { return false }
        var rowID: String?
        var values: [(column: String, value: SQLText)] = []
        for column in columns {
            guard let value = try vacantValue(for: column, of: table, count: Int64(count), asNull: asNull)
            else { return false }
            if column.name.lowercased() == table.info.generatedKey?.lowercased() { rowID = value }
            values.append((column.sql, SQLText(value)))
        }
        try execute(dialect.update(list, values, joined: "", isConstant: false).once)
        guard case .updated(let difference) = rows, table.info.rowID != nil else { return true }
        if let rowID {
            // Their targets are now the new row ids.
            try execute(
                SQLText(
                    """
                    UPDATE \(difference.name) SET target = (SELECT \(rowID) FROM \(list.name) g WHERE g.k0 = target)
                    WHERE target IN (SELECT k0 FROM \(list.name))
                    """
                ).once)
        }
        try changedRows(difference)
        return true
    }

    /// Returns an expression for a value that a column accepts and no row has; nil where there is none.
    ///
    /// - Parameter count: the most that the rows' numbers, `g.id`, can be.
    private func vacantValue(
        for column: any StoredColumn, of table: any StoredTable, count: Int64, asNull: Bool
    ) throws -> String? {
        let isRowID = column.name.lowercased() == table.info.generatedKey?.lowercased()
        let isFollowed = table.children.contains { key in
            key.onUpdate.changesChildren && key.targets.contains { $0.lowercased() == column.name.lowercased() }
        }
        // Children that follow the row must still find it.
        if asNull, !column.isNotNull, !isRowID, !isFollowed { return "NULL" }
        let type = table.info.column(column.name)?.stagedType ?? ""
        if isRowID || table.info.isStrict && ["INTEGER", "REAL"].contains(type) {
            let first = try freeNumber(for: column, of: table, count: count, isReal: type == "REAL")
            return first.map { "(\($0) + g.id)" }
        }
        let token = "('tributary \(UUID().uuidString) ' || g.id)"
        return table.info.isStrict && type == "TEXT" ? token : "CAST(\(token) AS BLOB)"
    }

    /// Returns the first of `count` numbers that a column does not have and will not get; nil where none was found.
    private func freeNumber(
        for column: any StoredColumn, of table: any StoredTable, count: Int64, isReal: Bool
    ) throws -> Int64? {
        let staged = stack.parts.filter { $0.table.table.name == table.name && $0.table.supplies(column.name) }
        let tables = [table.sql] + staged.map(\.table.qualifiedName)
        // Beyond this limit, a real number cannot represent each integer.
        let limit: Int64 = isReal ? 1 << 52 : 1 << 61
        for _ in 0..<64 {
            let first = Int64.random(in: -limit...limit - count)
            let isFree = try tables.allSatisfy { table in
                try db.isTrue(
                    """
                    SELECT NOT EXISTS (
                        SELECT 1 FROM \(table) WHERE \(column.sql) BETWEEN \(bind: first) AND \(bind: first + count))
                    """)
            }
            if isFree { return first }
        }
        return nil
    }

    func uniqueColumns(of table: any StoredTable) throws -> Set<String> {
        let info = table.info
        let indexes = try Row.fetchAll(
            db,
            sql: """
                SELECT l.name AS name, l.partial AS partial, s.sql AS sql FROM pragma_index_list(?, 'main') l
                LEFT JOIN main.sqlite_schema s ON s.type = 'index' AND s.name = l.name WHERE l."unique"
                """, arguments: [info.name])
        var columns: Set<String> = []
        if let generatedKey = info.generatedKey { columns.insert(generatedKey.lowercased()) }
        for index in indexes {
            let keys = try Row.fetchAll(
                db, sql: "SELECT name FROM pragma_index_xinfo(?, 'main') WHERE key",
                arguments: [index["name"] as String])
            let names = keys.map { $0[0] as String? }
            columns.formUnion(names.compactMap { $0?.lowercased() })
            if names.contains(where: { $0.flatMap(info.column)?.isGenerated == true }) {
                // Its value comes from other columns, perhaps any of them.
                columns.formUnion(info.columns.map { $0.name.lowercased() })
            } else if (index["partial"] as Int) != 0 || names.contains(nil), let sql: String = index["sql"] {
                // SQLite does not say which columns an expression names. One column too many does no harm.
                let sql = sql.lowercased()
                columns.formUnion(info.columns.map { $0.name.lowercased() }.filter(sql.contains))
            }
        }
        return columns
    }
}

extension DatabaseError {
    /// True if the statement might succeed with another value.
    fileprivate var isAboutValues: Bool {
        !breaksForeignKey
            && [.SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_ERROR].contains(resultCode.primaryResultCode)
    }
}
