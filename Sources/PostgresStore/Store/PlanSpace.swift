import FeedModel
import FeedStaging
package import FeedStores
import Foundation

/// The space for the plan of a run that would create or change tables: a schema of its own, first in the search path,
/// within transactions that are rolled back. No other session sees it, and nothing of it remains, however the process
/// ends.
///
/// New tables are created there. A table that gets columns has a double there, with its rows, and so have the source's
/// tables that refer to it. All other tables are the store's own; the plan takes no lock on them that a reader would wait
/// for.
///
/// `@unchecked Sendable`: all is used under the lock.
package final class PlanSpace: @unchecked Sendable {
    private let lock = NSRecursiveLock()
    /// The connection of the transaction that is in progress, if one is.
    private var current: PostgresConnection?
    /// SQL that is run before the tables of mappings are made, and SQL that is run afterwards.
    private let schema: String?
    private let schemaAfter: String?
    /// The tables that the source writes or looks rows up in, in lower case.
    private let tables: Set<String>
    /// Makes the tables of a source in a store, as a run of it does.
    private let prepare: (any MainStore) throws -> Void

    /// The schema's name; nil if the role may not create one.
    private(set) var name: String?
    private(set) var doubles: [TableDouble] = []
    private var fills = false

    /// - Parameters:
    ///   - schema: SQL that is run before the tables of mappings are made.
    ///   - schemaAfter: SQL that is run afterwards.
    ///   - tables: the tables that the source writes or looks rows up in.
    ///   - prepare: makes the tables of the source in a store, as a run of it does.
    package init(
        schema: String?, schemaAfter: String?, tables: Set<String>, prepare: @escaping (any MainStore) throws -> Void
    ) {
        self.schema = schema
        self.schemaAfter = schemaAfter
        self.tables = Set(tables.map { $0.lowercased() })
        self.prepare = prepare
    }

    /// Runs a body in a transaction that has the space and is rolled back. Within a body that is running, another runs in
    /// the same transaction, and is rolled back alone if it throws.
    ///
    /// - Parameter fills: true if the body reads rows.
    func inTransaction<Value>(
        of store: PostgresStore, fills: Bool, _ body: (PostgresConnection) throws -> Value
    ) throws -> Value {
        lock.lock()
        defer { lock.unlock() }
        if let current { return try current.inSavepoint { try body(current) } }
        return try store.connections.withConnection(.work) { connection in
            try connection.inDiscardedTransaction(settings: store.settings(PostgresStore.silenceBeforeLocks)) {
                current = connection
                self.fills = fills
                defer {
                    current = nil
                    name = nil
                    doubles = []
                    store.tableDetails.forgetAll()
                }
                store.tableDetails.forgetAll()
                try build(store, connection)
                store.tableDetails.forgetAll()
                return try body(connection)
            }
        }
    }

    private func build(_ store: PostgresStore, _ connection: PostgresConnection) throws {
        try createSchema(connection)
        if try !OwnMigrations.exist(connection) { try OwnMigrations.migrate(connection) }
        if let schema { try run(schema, connection, of: "store.schema") }
        store.tableDetails.forgetAll()
        try prepare(store)
        if let schemaAfter { try run(schemaAfter, connection, of: "store.schema_after") }
        try finish(connection)
    }

    private func createSchema(_ connection: PostgresConnection) throws {
        let name = "tributary_plan_" + Fingerprint.hexadecimal(UUID().uuidString)
        do {
            try connection.inSavepoint {
                try connection.execute("CREATE SCHEMA \(name)")
                try connection.execute(
                    """
                    SELECT set_config('search_path',
                        concat_ws(', ', '\(name)', nullif(current_setting('search_path'), '')), true)
                    """)
            }
            self.name = name
        } catch let error as PostgresError where error.state == .insufficientPrivilege {
            // New tables can be made where a run makes them.
        }
    }

    // MARK: - Doubles

    /// Returns the double of a table that gets columns.
    ///
    /// - Throws: ``StoreError`` if the space has no schema.
    func double(of table: StoredTable, _ connection: PostgresConnection) throws -> StoredTable {
        guard let name else {
            let address = connection.address.url
            let grant = try DatabaseRight.create.grant(connection)
            throw StoreError(
                .schema,
                "table '\(table.name)' gets columns, and to plan that on \(address) a schema is needed that is dropped "
                    + "again, which the role may not create; run \(grant), or plan after the next run"
            )
        }
        if table.schema == name {
            keep(table)
            return table
        }
        let double = try TableDouble(of: table, in: name, isKept: true, connection)
        doubles.append(double)
        return try double.details(connection)
    }

    /// Notes that a double is needed which was made for a script.
    private func keep(_ table: StoredTable) {
        for index in doubles.indices where doubles[index].double == table.relation { doubles[index].isKept = true }
    }

    /// Runs SQL whose names without a schema refer to objects of the space. The tables and views that it names have
    /// doubles there.
    ///
    /// - Parameter origin: the origin of the SQL, for messages.
    func run(_ script: String, _ connection: PostgresConnection, of origin: String) throws {
        guard let name else { return }
        let words = Set(RewrittenSQL(script).tokens.map { $0.name.lowercased() })
        let catalog = Catalog(connection)
        for table in try catalog.usersTables() where table.schema != name && words.contains(table.name.lowercased()) {
            doubles.append(try TableDouble(of: table, in: name, isKept: false, connection))
        }
        for view in try catalog.views() where view.schema != name && words.contains(view.name.lowercased()) {
            try connection.execute(
                "CREATE VIEW \(name).\(view.relation.postgresIdentifier) AS SELECT * FROM \(view.sql)")
        }
        let guardian = try RelationGuard(connection)
        do {
            try connection.execute("SET LOCAL lock_timeout = '50ms'")
            try connection.executeScript(script)
        } catch let error as PostgresError where error.kind == .statement {
            throw StoreError(
                error.isTransient ? .database : .schema, "\(origin): \(error.finding.text)", help: error.finding.help)
        }
        guard connection.transactionStatus == .inTransaction else {
            connection.close()
            throw StoreError(.schema, "\(origin): it begins or ends a transaction; leave that out")
        }
        if let changed = try guardian.changed(connection) {
            throw StoreError(
                .schema,
                "\(origin) changes '\(changed)' by a name with its schema, and readers would have to wait for that; "
                    + "write the name without the schema, or plan after the next run")
        }
        try connection.execute("SET LOCAL lock_timeout = '120s'")
    }

    /// Makes doubles of the source's tables that refer to one with a double: their new rows may refer to rows that only the
    /// double has.
    private func doubleChildren(_ connection: PostgresConnection) throws {
        guard let name else { return }
        var index = 0
        while index < doubles.count {
            let parent = doubles[index]
            index += 1
            guard parent.isKept else { continue }
            let children = parent.original.children.map(\.child).filter { $0 != parent.original.id }
            for child in try Catalog(connection).tables(children)
            where child.schema != name && tables.contains(child.name.lowercased()) {
                if let known = doubles.firstIndex(where: { $0.original.id == child.id }) {
                    guard !doubles[known].isKept else { continue }
                    doubles[known].isKept = true
                    // Its own children have not been looked for.
                    index = min(index, known)
                } else {
                    doubles.append(try TableDouble(of: child, in: name, isKept: true, connection))
                }
            }
        }
    }

    /// Drops unused doubles, fills the others, and points foreign keys to existing tables.
    private func finish(_ connection: PostgresConnection) throws {
        guard let name, !doubles.isEmpty else { return }
        for index in doubles.indices where !doubles[index].isKept {
            doubles[index].isKept =
                try tables.contains(doubles[index].original.name.lowercased())
                && doubles[index].addsColumns(connection)
        }
        try doubleChildren(connection)
        let needless = doubles.filter { !$0.isKept }
        doubles.removeAll { !$0.isKept }
        let views = try SpaceViews(of: name, connection)
        let keys = try SpaceKeys(of: name, connection)
        for double in needless { try connection.execute("DROP TABLE \(double.sql) CASCADE") }
        try keys.lead(to: needless, doubles, in: name, connection)
        try views.restore(connection)
        for double in doubles where fills { try double.fill(connection) }
        for double in doubles { try keys.add(of: double, doubles, connection) }
    }
}
