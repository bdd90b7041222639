import FeedModel
import FeedStaging
import FeedStores
import Foundation
import GRDB

/// What is asked before a run, or beside it.
extension LossyStore {
    func tableInfo(_ name: String) throws -> StoredTable { try reading("tableInfo") { try $0.tableInfo(name) } }
    func tables() throws -> [StoredTable] { try store.tables() }
    func storedRow(of table: String, _ values: [(column: String, value: DatabaseValue)]) throws -> Row? {
        try store.storedRow(of: table, values)
    }
    func attachStoredTables(to scratch: Database) throws { try store.attachStoredTables(to: scratch) }
    func provideStoredRows(_ request: StoredRowsRequest, to scratch: Database) throws {
        try store.provideStoredRows(request, to: scratch)
    }
    func numberKeys(
        of tables: [StagingTable], inScratch path: String, _ body: (Int, Int64, Int64) throws -> Void
    ) throws { try store.numberKeys(of: tables, inScratch: path, body) }
    func rows(_ query: String, limit: Int, staged: StagedView) throws -> QueriedRows {
        try store.rows(query, limit: limit, staged: staged)
    }
    func execute(schema: String) throws { try store.execute(schema: schema) }
    func apply(schemaAfter: String) throws { try store.apply(schemaAfter: schemaAfter) }
    func prepareTables(_ definitions: [TableSchema]) throws -> [SchemaAddition] {
        try store.prepareTables(definitions)
    }
    func remove(_ additions: [SchemaAddition]) throws { try store.remove(additions) }
    func isPrepared(for definitions: [TableSchema]) throws -> Bool { try store.isPrepared(for: definitions) }
    func prepare(schema: String, tables: [String]) throws { try store.prepare(schema: schema, tables: tables) }
    func isPrepared(schema: String, tables: [String]) throws -> Bool {
        try store.isPrepared(schema: schema, tables: tables)
    }
    func missingTables(among names: Set<String>) throws -> [String] { try store.missingTables(among: names) }
    func presentTable(_ name: String) throws -> StoredTable? { try store.presentTable(name) }
    func differences(from definitions: [TableSchema]) throws -> [Mistake] { try store.differences(from: definitions) }
    func historyProblem(of table: String) -> String? { store.historyProblem(of: table) }
    func migrations(to definitions: [TableSchema]) throws -> [TableMigration] { try store.migrations(to: definitions) }
    func migrate(to definitions: [TableSchema]) throws -> [TableMigration] { try store.migrate(to: definitions) }
    func checkReferences(_ references: [ReferenceDefinition]) throws { try store.checkReferences(references) }
    func dateColumn(_ column: String, of table: String, within scope: [String]) throws -> DateColumn? {
        try store.dateColumn(column, of: table, within: scope)
    }
    func checkViews() throws { try store.checkViews() }
    func comparison(of table: String, scopes: [[String: String]]) throws -> TableComparison {
        try store.comparison(of: table, scopes: scopes)
    }
    func renewTableInfos(of tables: Set<String>?, within age: Duration) throws {
        try store.renewTableInfos(of: tables, within: age)
    }
    func value(of expression: String, in table: String, scope: [String: String]) throws -> String? {
        try store.value(of: expression, in: table, scope: scope)
    }
    func hasExpiredRows(_ expiries: [Retention.Expiry]) throws -> Bool {
        try reading("hasExpiredRows") { try $0.hasExpiredRows(expiries) }
    }
    func copy(_ tables: [String]?, to path: String) throws { try store.copy(tables, to: path) }
    func identity() throws -> String { try store.identity() }
    func snapshot(_ body: (any TransferReader) throws -> Void) throws { try store.snapshot(body) }
    func receive(_ body: (any TransferWriter) throws -> Void) throws { try store.receive(body) }
    func dropEmptyTables(_ names: [String], andOwn areAll: Bool) throws {
        try store.dropEmptyTables(names, andOwn: areAll)
    }
}

/// What people look at.
extension LossyStore {
    func browse<Value>(within limit: Duration?, _ body: (TableReader) throws -> Value) throws -> Value {
        try store.browse(within: limit, body)
    }
}
