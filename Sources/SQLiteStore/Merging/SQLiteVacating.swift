import FeedModel
import FeedStaging
import FeedStores
import GRDB

/// Unique values that rows give up for a moment, while others take them.
extension SQLiteMergeDriver {
    // Only a statement that fails for a unique value costs anything.
    func mayConflict(_ table: StagingTable, _ stored: StoredTable) throws -> Bool { true }

    func vacating(_ body: () throws -> Bool) throws -> Bool {
        do { return try body() } catch let error as DatabaseError where error.isAboutValues { return false }
    }

    func uniqueColumns(of table: StoredTable) throws -> Set<String> {
        let indexes = try Row.fetchAll(
            db,
            sql: """
                SELECT l.name AS name, l.partial AS partial, s.sql AS sql FROM pragma_index_list(?, 'main') l
                LEFT JOIN main.sqlite_schema s ON s.type = 'index' AND s.name = l.name WHERE l."unique"
                """, arguments: [table.name])
        var columns: Set<String> = []
        if let generatedKey = table.generatedKey { columns.insert(generatedKey.lowercased()) }
        for index in indexes {
            let keys = try Row.fetchAll(
                db, sql: "SELECT name FROM pragma_index_xinfo(?, 'main') WHERE key",
                arguments: [index["name"] as String])
            let names = keys.map { $0[0] as String? }
            columns.formUnion(names.compactMap { $0?.lowercased() })
            if names.contains(where: { $0.flatMap(table.column)?.isGenerated == true }) {
                // Its value comes from other columns, perhaps any of them.
                columns.formUnion(table.columns.map { $0.name.lowercased() })
            } else if (index["partial"] as Int) != 0 || names.contains(nil), let sql: String = index["sql"] {
                // SQLite does not say which columns an expression names. One column too many does no harm.
                let sql = sql.lowercased()
                columns.formUnion(table.columns.map { $0.name.lowercased() }.filter(sql.contains))
            }
        }
        return columns
    }
}

extension DatabaseError {
    /// True if the table refuses a value: by a constraint, a type or a trigger.
    fileprivate var isAboutValues: Bool {
        !breaksForeignKey
            && [.SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_ERROR].contains(resultCode.primaryResultCode)
    }
}
