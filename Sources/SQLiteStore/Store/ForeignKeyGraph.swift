import FeedStaging
import GRDB

/// The effects of a parent's change on its children: the main store's foreign keys, seen from the parent's side. Keys
/// that only refuse at the end of a transaction are not included.
struct ForeignKeyGraph: Sendable {
    enum Action: String {
        case restrict = "RESTRICT"
        case setNull = "SET NULL"
        case setDefault = "SET DEFAULT"
        case cascade = "CASCADE"

        var changesChildren: Bool { self != .restrict }
    }

    /// One foreign key of a child.
    struct Reference: Sendable {
        var child: TableInfo
        var columns: [String]
        /// The parent's columns.
        var targets: [String]
        /// nil where nothing happens.
        var onDelete: Action?
        var onUpdate: Action?
    }

    private var references: [String: [Reference]] = [:]

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
            let onDelete = Action(rawValue: first["on_delete"])
            let onUpdate = Action(rawValue: first["on_update"])
            let parent: String = first["parent"]
            guard onDelete != nil || onUpdate != nil,
                let child = try TableInfo(db, table: name, schema: "main")
            else { continue }
            var targets = parts.compactMap { $0["to"] as String? }
            if targets.isEmpty { targets = try TableInfo(db, table: parent, schema: "main")?.primaryKey ?? [] }
            // Otherwise SQLite refuses the statement with "foreign key mismatch".
            guard targets.count == parts.count else { continue }
            references[parent.lowercased(), default: []].append(
                Reference(
                    child: child, columns: parts.map { $0["from"] }, targets: targets, onDelete: onDelete,
                    onUpdate: onUpdate))
        }
    }

    func references(to table: String) -> [Reference] { references[table.lowercased()] ?? [] }
}
