import FeedStaging
import GRDB
import FeedStores

/// The main store's foreign keys, seen from the parent's side.
struct ForeignKeyGraph: Sendable {
    private var references: [TableID: [ReferringKey]] = [:]

    init(_ db: Database) throws {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT t.name AS child, f.id AS id, f."table" AS parent, f."from" AS "from", f."to" AS "to",
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
            let onDelete = ReferringKey.Action(first["on_delete"])
            let onUpdate = ReferringKey.Action(first["on_update"])
            let parent: String = first["parent"]
            var targets = parts.compactMap { $0["to"] as String? }
            if targets.isEmpty { targets = try TableInfo(db, table: parent, schema: "main")?.primaryKey ?? [] }
            // Otherwise SQLite refuses the statement with "foreign key mismatch".
            guard targets.count == parts.count else { continue }
            references[SQLiteTable.id(parent), default: []].append(
                ReferringKey(
                    child: SQLiteTable.id(name), columns: parts.map { $0["from"] }, targets: targets,
                    onDelete: onDelete, onUpdate: onUpdate, holdsParents: onDelete != .none))
        }
    }

    func references(to table: String) -> [ReferringKey] { references[SQLiteTable.id(table)] ?? [] }
}

extension ReferringKey.Action {
    /// - Parameter text: as `PRAGMA foreign_key_list` writes it.
    fileprivate init(_ text: String) {
        self =
            switch text {
            case "RESTRICT": .restrict
            case "SET NULL": .setNull
            case "SET DEFAULT": .setDefault
            case "CASCADE": .cascade
            default: .none
            }
    }
}
