import FeedConfiguration
import FeedStaging
import GRDB

/// The tables for importing an export again: the store's tables that the mapping writes, and those that they refer to,
/// with the rows referred to.
struct ExportTrialTables {
    private let db: Database
    private let mapped: Set<String>
    private let names: [String]

    /// - Parameter db: a connection with the store attached as `store`.
    init(mapping: RequestMapping, db: Database) throws {
        self.db = db
        mapped = Set(mapping.tables.map { $0.table.lowercased() })
        let looked = mapping.tables.flatMap(\.columns).compactMap { $0.reference?.table.lowercased() }
        var names = Array(mapped.union(looked)).sorted()
        var known = Set(names)
        var next = 0
        while next < names.count {
            for parent in try Self.references(of: names[next], db).map({ $0.parent.lowercased() })
            where known.insert(parent).inserted {
                names.append(parent)
            }
            next += 1
        }
        self.names = names
        lookups = mapping.tables.flatMap { table in
            table.columns.compactMap { column in
                column.reference.map { Reference(child: table.table, from: [column.name], parent: $0.table, to: []) }
            }
        }
    }

    /// The columns of a mapping that hold the primary keys of rows that it looks up.
    private let lookups: [Reference]

    /// The SQL that creates the tables and their indexes, without triggers and the store's other tables.
    var schema: String {
        get throws {
            try String.fetchAll(
                db,
                sql: """
                    SELECT sql FROM store.sqlite_schema WHERE type IN ('table', 'index') AND sql IS NOT NULL
                    AND lower(tbl_name) IN (\(names.map(\.sqlLiteral).joined(separator: ", ")))
                    ORDER BY type = 'index', rowid
                    """
            ).joined(separator: "\n;\n")
        }
    }

    /// Copies the rows of other tables that rows of the mapped tables refer to. The export does not bring them.
    func copyRowsReferredTo() throws {
        let keys = try mapped.sorted().flatMap { try Self.references(of: $0, db) }
        for reference in keys + lookups where !mapped.contains(reference.parent.lowercased()) {
            let columns = try String.fetchAll(
                db, sql: "SELECT name FROM pragma_table_xinfo(?, 'store') WHERE hidden = 0",
                arguments: [reference.parent]
            ).map(\.sqlIdentifier).joined(separator: ", ")
            let targets = try reference.to.isEmpty ? db.keyInStore(of: reference.parent) : reference.to
            guard !columns.isEmpty, targets.count == reference.from.count else { continue }
            func list(_ names: [String]) -> String { names.map(\.sqlIdentifier).joined(separator: ", ") }
            try db.execute(
                sql: """
                    INSERT OR IGNORE INTO \(ExportTrial.emptySchema).\(reference.parent.sqlIdentifier) (\(columns))
                    SELECT \(columns) FROM store.\(reference.parent.sqlIdentifier)
                    WHERE (\(list(targets))) IN (SELECT \(list(reference.from)) FROM store.\(reference.child.sqlIdentifier))
                    """)
        }
    }

    private struct Reference {
        var child: String
        var from: [String]
        var parent: String
        /// The columns of the parent; empty for its primary key.
        var to: [String]
    }

    private static func references(of table: String, _ db: Database) throws -> [Reference] {
        let rows = try Row.fetchAll(
            db, sql: "SELECT * FROM pragma_foreign_key_list(?, 'store') ORDER BY id, seq", arguments: [table])
        return Dictionary(grouping: rows) { $0["id"] as Int }.sorted { $0.key < $1.key }.map { _, rows in
            Reference(
                child: table, from: rows.map { $0["from"] }, parent: rows[0]["table"],
                to: rows.compactMap { $0["to"] as String? })
        }
    }
}
