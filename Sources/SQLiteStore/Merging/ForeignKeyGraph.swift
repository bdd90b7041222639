import FeedStaging
import GRDB
import FeedStores

/// The main store's foreign keys, seen from the parent's side.
struct ForeignKeyGraph: Sendable {
    private var references: [TableID: [StoredTable.ForeignKey]] = [:]

    init(_ db: Database) throws {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT t.name AS child, f.id AS id, f."table" AS "table", f."from" AS "from", f."to" AS "to",
                    f.on_delete AS on_delete, f.on_update AS on_update
                FROM pragma_table_list t CROSS JOIN pragma_foreign_key_list(t.name, 'main') f
                WHERE t.schema = 'main' AND t.type = 'table' ORDER BY t.name, f.id DESC, f.seq
                """)
        var index = 0
        while index < rows.count {
            let first = rows[index]
            let name: String = first["child"]
            let id: Int = first["id"]
            let parts = rows[index...].prefix { row in
                let child: String = row["child"]
                let number: Int = row["id"]
                return child == name && number == id
            }
            index += parts.count
            var key = StoredTable.ForeignKey(parts, of: name)
            if key.targets.isEmpty {
                key.targets = try StoredTable(db, table: key.parentName, schema: "main")?.primaryKey ?? []
            }
            // Otherwise SQLite refuses the statement with "foreign key mismatch".
            guard key.targets.count == parts.count else { continue }
            references[key.parent, default: []].append(key)
        }
    }

    func references(to table: String) -> [StoredTable.ForeignKey] { references[StoredTable.id(table)] ?? [] }
}
