import FeedModel
import FeedStaging
import Foundation

/// The user's own SQL.
extension PostgresStore {
    /// Runs idempotent SQL, all of it or none.
    ///
    /// - Throws: ``StoreError`` with the line of the statement that failed.
    package func execute(schema: String) throws { try execute(schema: schema) { _ in true } }

    package func apply(schemaAfter sql: String) throws {
        let digest = Fingerprint.hexadecimal(sql)
        let known = "SELECT FROM tributary_schema WHERE name = 'schema_after' AND digest = $1"
        guard try ask({ try $0.execute(known, [.text(digest)]).isEmpty }) else { return }
        try execute(schema: sql) { connection in
            // Another daemon may have been first.
            guard try connection.execute(known, [.text(digest)]).isEmpty else { return false }
            try connection.execute(
                """
                INSERT INTO tributary_schema VALUES ('schema_after', $1, clock_timestamp())
                ON CONFLICT (name) DO UPDATE SET digest = EXCLUDED.digest, applied_at = EXCLUDED.applied_at
                """, [.text(digest)])
            return true
        }
    }

    /// - Parameter isNeeded: called before, in the same transaction; false if the SQL need not be run.
    private func execute(schema: String, isNeeded: (PostgresConnection) throws -> Bool) throws {
        do {
            // A connection of its own, as the script may leave settings behind.
            let connection = try PostgresConnection(connectionString)
            defer { connection.close() }
            try stop.whileInProgress(Stop.Work(connection)) {
                try Self.run(schema: schema, connection, isNeeded: isNeeded)
            }
        } catch let error as PostgresError {
            throw StoreError(
                error.kind == .statement ? .schema : .unavailable, error.finding.text, help: error.finding.help)
        }
    }

    /// The time for which one attempt waits for a lock.
    private static let longestWait = "SET LOCAL lock_timeout = '50ms'"
    /// The longest wait for sessions that use the objects that the SQL changes.
    private static let timeLimit = Duration.seconds(120)

    /// Runs the SQL in one transaction, after all others that change the schema.
    ///
    /// A session that waits for a reader's lock delays all later readers. So each attempt waits for some milliseconds
    /// only, and pauses in between.
    ///
    /// - Parameter isNeeded: called before, in the same transaction; false to skip the SQL.
    /// - Throws: `PostgresError`
    static func run(
        schema: String, _ connection: PostgresConnection, isNeeded: (PostgresConnection) throws -> Bool
    ) throws {
        // Statements of the schema may take their time: an index over a large table takes minutes.
        connection.answerLimit = .work
        let end = ContinuousClock.now + timeLimit
        while true {
            do {
                return try OwnMigrations.whileLocked(connection) {
                    guard try isNeeded(connection) else { return }
                    try connection.execute(longestWait)
                    try connection.executeScript(schema)
                }
            } catch let error as PostgresError where error.state == .lockNotAvailable && ContinuousClock.now < end {
                Thread.sleep(forTimeInterval: 0.25)
            }
        }
    }
}

/// Tables that parsers bring along.
extension PostgresStore {
    /// Runs a parser's schema if one of its tables does not exist. Adds columns that a later version of it has to
    /// existing tables.
    package func prepare(schema: String, tables: [String]) throws {
        try tableDetails.ensure(.sql(schema)) {
            let isMissing = try !missingTables(among: Set(tables)).isEmpty
            guard try tables.isEmpty || isMissing || !newColumns(schema: schema, tables: tables).isEmpty else { return }
            try changeSchema("the tables of the parser cannot be created") { connection in
                // Another daemon may have been first. Columns come before all else: indexes and views of the schema may
                // name them.
                for (table, column) in try newColumns(schema: schema, tables: tables, connection) {
                    let table = try planning?.double(of: table, connection) ?? table
                    try connection.execute("ALTER TABLE \(table.sql) ADD COLUMN \(column.sql) \(column.type)")
                }
                if let planning {
                    try planning.run(schema, connection, of: "the parser's schema")
                } else {
                    try connection.executeScript(schema)
                }
            }
        }
    }

    /// Returns true if every table of a parser exists, with every column that its schema gives it.
    package func isPrepared(schema: String, tables: [String]) throws -> Bool {
        guard try missingTables(among: Set(tables)).isEmpty else { return false }
        return try newColumns(schema: schema, tables: tables).isEmpty
    }

    private func newColumns(
        schema: String, tables: [String]
    ) throws -> [(table: StoredTable, column: StoredTable.Column)] {
        guard !tables.isEmpty else { return [] }
        return try ask { connection in
            try connection.inDiscardedTransaction(settings: self.settings()) {
                try newColumns(schema: schema, tables: tables, connection)
            }
        }
    }

    /// Returns the columns that a parser's schema gives to its tables, and that the existing tables lack. The schema is
    /// run for temporary tables, which are gone again afterwards.
    ///
    /// - Parameter connection: in a transaction.
    private func newColumns(
        schema: String, tables: [String], _ connection: PostgresConnection
    ) throws -> [(table: StoredTable, column: StoredTable.Column)] {
        struct Undone: Error {}
        var declared: [StoredTable] = []
        do {
            try connection.inSavepoint {
                // What is created without a schema's name goes into the first one; types and functions may be in others.
                try connection.execute(
                    """
                    SELECT set_config('search_path', concat_ws(', ', 'pg_temp', nullif(current_setting('search_path'), '')), true)
                    """)
                try connection.executeScript(schema)
                declared = try Catalog(connection).temporaryTables()
                throw Undone()
            }
        } catch is Undone {
        } catch let error as PostgresError where error.kind == .statement {
            // The author keeps a schema that depends on other tables than its own up to date.
            return []
        }
        guard connection.transactionStatus == .inTransaction else {
            // Its temporary tables may have stayed.
            connection.close()
            throw StoreError(
                .schema,
                "the tables of the parser cannot be created: its schema begins or ends a transaction; leave that out")
        }
        let existing = try Catalog(connection).tables(named: tables)
        let places = NameIndex(declared.lazy.map(\.name))
        return tables.flatMap { name in
            guard let new = places[name].map({ declared[$0] }), let old = existing[name] else {
                return [(table: StoredTable, column: StoredTable.Column)]()
            }
            return new.columns.filter { !$0.isComputed && old.column($0.name) == nil }.map { (old, $0) }
        }
    }
}
