package import FeedModel
package import FeedStaging

/// The tables of a main store.
package protocol StoreTables: StagingStore {
    /// Runs idempotent SQL, all of it or none.
    ///
    /// - Throws: ``StoreError`` with the database's message.
    func execute(schema: String) throws

    /// Runs idempotent SQL that relies on the tables of mappings, all of it or none. It is not run where the store
    /// remembers the same text as the last one, and has made no table of a mapping since.
    ///
    /// - Throws: ``StoreError`` with the database's message.
    func apply(schemaAfter: String) throws

    /// Creates missing tables, adds new columns, and compares existing ones with the definitions.
    ///
    /// - Returns: what was made.
    /// - Throws: ``StoreError`` naming each column whose type, and each table whose key, is not as declared; nothing is
    ///   made then.
    @discardableResult
    func prepareTables(_ definitions: [TableSchema]) throws -> [SchemaAddition]

    /// Removes what was made for a run: tables that have no row, and columns that have no value.
    ///
    /// - Throws: ``StoreError``; nothing is removed then.
    func remove(_ additions: [SchemaAddition]) throws

    /// Returns true if every table exists, with every column.
    func isPrepared(for definitions: [TableSchema]) throws -> Bool

    /// Runs a parser's schema if one of its tables does not exist. Adds columns that a later version of it has to
    /// existing tables.
    func prepare(schema: String, tables: [String]) throws

    /// Returns true if every table of a parser exists, with every column that its schema gives it.
    func isPrepared(schema: String, tables: [String]) throws -> Bool

    /// Returns the names of tables that the store does not have.
    func missingTables(among names: Set<String>) throws -> [String]

    /// Returns the present definition of a table; nil if it does not exist.
    func presentTable(_ name: String) throws -> StoredTable?

    /// Returns the mistakes of declarations from which existing tables differ.
    func differences(from definitions: [TableSchema]) throws -> [Mistake]

    /// Returns why the store's role may not write existing tables, by the tables' names, with the statement that lets
    /// it.
    ///
    /// - Parameter needed: the rights on each table. Each is also locked against other writers.
    func missingRights(_ needed: [String: Set<TableRight>]) throws -> [String: String]

    /// Returns why the store cannot keep the history of a table of this name; nil if it can.
    func historyProblem(of table: String) -> String?

    /// Returns what would make existing tables as declared; none for tables that are so.
    func migrations(to definitions: [TableSchema]) throws -> [TableMigration]

    /// Makes existing tables as declared, all of them or none.
    ///
    /// - Returns: the migrations.
    /// - Throws: ``StoreError`` naming a value that the new type does not accept, or rows with the same new key; the
    ///   store
    ///   is then unchanged.
    func migrate(to definitions: [TableSchema]) throws -> [TableMigration]

    /// - Throws: ``StoreError`` naming each reference whose table or column does not exist, or cannot be referred to.
    func checkReferences(_ references: [ReferenceDefinition]) throws

    /// Returns the properties of a column by which rows expire; nil if it does not exist.
    ///
    /// - Parameter scope: the columns whose values are given.
    func dateColumn(_ column: String, of table: String, within scope: [String]) throws -> DateColumn?

    /// - Throws: ``StoreError`` naming a view that cannot be read.
    func checkViews() throws

    /// Returns how a table compares the columns and values of scopes.
    func comparison(of table: String, scopes: [[String: String]]) throws -> TableComparison

    /// Forgets cached tables that have changed. Each run that uses tables begins with it.
    ///
    /// - Parameters:
    ///   - tables: the names of the tables that the run uses; nil if it may use any.
    ///   - age: a server is not asked again about tables that it has been asked about within this time.
    func renewTableInfos(of tables: Set<String>?, within age: Duration) throws
}

extension StoreTables {
    package func renewTableInfos(of tables: Set<String>?) throws { try renewTableInfos(of: tables, within: .zero) }

    /// Returns the columns of a table, in lower case; empty if the table does not exist.
    package func columns(of table: String) throws -> Set<String> {
        Set(try presentTable(table)?.columns.map { $0.name.lowercased() } ?? [])
    }

    /// Returns true if a column of a table refers to another table by a foreign key of its own, or if the table does
    /// not exist.
    package func refers(_ column: String, of table: String, to other: String) throws -> Bool {
        guard let table = try presentTable(table) else { return true }
        return table.foreignKeys.contains { key in
            key.columns.map { $0.lowercased() } == [column.lowercased()]
                && key.parentName.lowercased() == other.lowercased()
        }
    }
}

/// The rows of a main store.
package protocol StoreRows: AnyObject, Sendable {
    /// Returns the value of an SQL expression over the rows of a table, within a scope; nil for NULL.
    func value(of expression: String, in table: String, scope: [String: String]) throws -> String?

    /// Returns true if rows have expired.
    ///
    /// - Throws: ``StoreError`` for a column without dates.
    func hasExpiredRows(_ expiries: [Retention.Expiry]) throws -> Bool

    /// Copies tables with all their rows into a new SQLite file, as they are at one moment.
    ///
    /// - Parameter tables: the names of existing tables; nil for every table and all else that the store holds.
    /// - Throws: ``StoreError`` naming a table or file.
    func copy(_ tables: [String]?, to path: String) throws
}

/// A right on a table of a store on a server.
package enum TableRight: String, Sendable, CaseIterable {
    case select = "SELECT"
    case insert = "INSERT"
    case update = "UPDATE"
    case delete = "DELETE"
}

extension StoreTables {
    /// Returns no table: a store in a file has no rights on tables.
    package func missingRights(_ needed: [String: Set<TableRight>]) throws -> [String: String] { [:] }
}
