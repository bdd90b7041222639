import FeedModel
import FeedStaging

/// The foreign keys of the tables in a plan's own schema.
struct SpaceKeys {
    private let tables: [StoredTable]
    private let names: [TableID: [(name: String, parent: TableID)]]

    init(of schema: String, _ connection: PostgresConnection) throws {
        let ids = try connection.execute(
            """
            SELECT c.oid FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = $1 AND c.relkind IN ('r', 'p')
            """, [.text(schema)]
        ).compactMap { $0.string(0) }
        tables = try Catalog(connection).tables(ids)
        names = try connection.execute(
            """
            SELECT k.conrelid, k.conname, k.confrelid FROM pg_catalog.pg_constraint k
            JOIN pg_catalog.pg_namespace n ON n.oid = k.connamespace WHERE n.nspname = $1 AND k.contype = 'f'
            """, [.text(schema)]
        ).reduce(into: [:]) { names, row in
            names[row.string(0) ?? "", default: []].append((row.string(1) ?? "", row.string(2) ?? ""))
        }
    }

    /// Lets keys lead to the original of a double that was dropped, and to the double of a table that has one.
    func lead(
        to dropped: [TableDouble], _ doubles: [TableDouble], in schema: String, _ connection: PostgresConnection
    ) throws {
        let gone = Set(dropped.map(\.double))
        for table in tables where !gone.contains(table.relation) {
            for key in table.foreignKeys {
                if let parent = tables.first(where: { $0.id == key.parent }) {
                    // The key went with the double.
                    guard let double = dropped.first(where: { $0.double == parent.relation }) else { continue }
                    try add(key, to: table.sql, leadingTo: double.original.sql, connection)
                } else if let double = doubles.first(where: { $0.original.id == key.parent }) {
                    for name in names[table.id] ?? [] where name.parent == key.parent {
                        try connection.execute(
                            "ALTER TABLE \(table.sql) DROP CONSTRAINT IF EXISTS \(name.name.postgresIdentifier)")
                    }
                    try add(key, to: table.sql, leadingTo: double.sql, connection)
                }
            }
        }
    }

    /// Gives a double the keys of its original.
    func add(of double: TableDouble, _ doubles: [TableDouble], _ connection: PostgresConnection) throws {
        let parents = try Catalog(connection).tables(double.original.foreignKeys.map(\.parent))
        for key in double.original.foreignKeys {
            let parent =
                doubles.first { $0.original.id == key.parent }?.sql ?? parents.first { $0.id == key.parent }?.sql
            if let parent { try add(key, to: double.sql, leadingTo: parent, connection) }
        }
    }

    private func add(
        _ key: StoredTable.ForeignKey, to table: String, leadingTo parent: String, _ connection: PostgresConnection
    ) throws {
        func list(_ names: [String]) -> String { names.map(\.postgresIdentifier).joined(separator: ", ") }
        try connection.execute(
            """
            ALTER TABLE \(table) ADD FOREIGN KEY (\(list(key.columns))) REFERENCES \(parent) (\(list(key.targets)))
            ON DELETE \(key.onDelete.sql) ON UPDATE \(key.onUpdate.sql)\(key.isDeferrable ? " DEFERRABLE" : "")
            """)
    }
}

extension StoredTable.ForeignKey.Action {
    fileprivate var sql: String {
        switch self {
        case .none: "NO ACTION"
        case .restrict: "RESTRICT"
        case .cascade: "CASCADE"
        case .setNull: "SET NULL"
        case .setDefault: "SET DEFAULT"
        }
    }
}

/// The views in a plan's own schema, which go when a table is dropped that they read.
struct SpaceViews {
    private let schema: String
    private let definitions: [(name: String, sql: String)]

    init(of schema: String, _ connection: PostgresConnection) throws {
        self.schema = schema
        definitions = try connection.execute(
            """
            SELECT c.relname, pg_get_viewdef(c.oid) FROM pg_catalog.pg_class c
            JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind = 'v'
            ORDER BY c.oid
            """, [.text(schema)]
        ).map { ($0.string(0) ?? "", $0.string(1) ?? "") }
    }

    /// Creates the dropped views again: their names now refer to the present tables.
    func restore(_ connection: PostgresConnection) throws {
        for view in definitions {
            let name = "\(schema).\(view.name.postgresIdentifier)"
            let isThere = try connection.execute("SELECT to_regclass($1) IS NOT NULL", [.text(name)])[0].bool(0)
            if isThere == false { try connection.execute("CREATE VIEW \(name) AS \(view.sql)") }
        }
    }
}
