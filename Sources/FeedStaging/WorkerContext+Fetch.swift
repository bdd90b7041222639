import FeedModel
import Foundation
public import GRDB

/// Queries for parsers: rows staged by their own run first, then those of the main store.
extension WorkerContext {
    /// Returns the row with this primary key: a staged one first, then the main store's.
    public func fetchOne<Record: FetchableRecord & TableRecord>(
        _ type: Record.Type = Record.self, key: some DatabaseValueConvertible
    ) throws -> Record? {
        try fetchOne(type, key: [primaryKeyColumn(of: Record.databaseTableName): key])
    }

    /// Returns the row whose columns have these values: a staged one first, then the main store's.
    public func fetchOne<Record: FetchableRecord & TableRecord>(
        _ type: Record.Type = Record.self, key: [String: (any DatabaseValueConvertible)?]
    ) throws -> Record? {
        try read(Record.rows(key)) { try Record.filter(key.condition).fetchOne($0) }
    }

    /// Returns the first row of a request. A table's rows are the staged ones, and those of the main store that they
    /// will not replace.
    public func fetchOne<Request: FetchRequest>(_ request: Request) throws -> Request.RowDecoder?
    where Request.RowDecoder: FetchableRecord {
        try read(request.rows) { try request.fetchOne($0) }
    }

    /// Returns all rows of a request. A table's rows are the staged ones, and those of the main store that they will
    /// not replace.
    public func fetchAll<Request: FetchRequest>(_ request: Request) throws -> [Request.RowDecoder]
    where Request.RowDecoder: FetchableRecord {
        try read(request.rows) { try request.fetchAll($0) }
    }

    /// Returns every row of a record's table, staged or in the main store.
    public func fetchAll<Record: FetchableRecord & TableRecord>(_ type: Record.Type) throws -> [Record] {
        try fetchAll(Record.all())
    }

    /// Returns the row of the main store with this primary key. Staged rows are not read, so it is quick.
    public func fetchStored<Record: FetchableRecord & TableRecord>(
        _ type: Record.Type = Record.self, key: some DatabaseValueConvertible
    ) throws -> Record? {
        try fetchStored(type, key: [primaryKeyColumn(of: Record.databaseTableName): key])
    }

    /// Returns a row of the main store whose columns have these values. Staged rows are not read, so it is quick.
    public func fetchStored<Record: FetchableRecord & TableRecord>(
        _ type: Record.Type = Record.self, key: [String: (any DatabaseValueConvertible)?]
    ) throws -> Record? {
        try store.storedRow(of: Record.databaseTableName, key.databaseValues).map(Record.init)
    }

    /// Returns true if a row with this primary key is staged or in the main store.
    public func exists<Record: TableRecord>(_ type: Record.Type, key: some DatabaseValueConvertible) throws -> Bool {
        try exists(type, key: [primaryKeyColumn(of: Record.databaseTableName): key])
    }

    /// Returns true if a row whose columns have these values is staged or in the main store.
    public func exists<Record: TableRecord>(
        _ type: Record.Type, key: [String: (any DatabaseValueConvertible)?]
    ) throws -> Bool {
        try read(Record.rows(key)) { try !Record.filter(key.condition).isEmpty($0) }
    }

    /// Returns true if a request has any row.
    public func exists<RowDecoder>(_ request: QueryInterfaceRequest<RowDecoder>) throws -> Bool {
        try read(request.rows) { try !request.isEmpty($0) }
    }

    private func primaryKeyColumn(of table: String) throws -> String {
        let info = try tableInfo(table)
        guard info.primaryKey.count == 1 else {
            throw StoreError(
                .schema, "the primary key of table '\(table)' is not one column; give the key as [column: value]")
        }
        return info.primaryKey[0]
    }

    /// Reads after everything staged so far has been written.
    ///
    /// - Parameter stored: the stored rows that `value` may read.
    private func read<Value>(
        _ stored: (Database) throws -> StoredRowsRequest, _ value: (Database) throws -> Value
    ) throws -> Value {
        try flush()
        return try inScratch { db in
            if !isStoreAttached {
                try store.attachStoredTables(to: db)
                isStoreAttached = true
            }
            if !viewsAreCurrent {
                try db.overlayStagedRows(of: stagings.map(\.table))
                viewsAreCurrent = true
            }
            try store.provideStoredRows(stored(db), to: db)
            return try value(db)
        }
    }
}

extension TableRecord {
    /// Returns the rows of the record's table whose columns have these values.
    fileprivate static func rows(
        _ values: [String: (any DatabaseValueConvertible)?]
    ) -> (Database) throws -> StoredRowsRequest {
        { _ in .matching(table: databaseTableName, values: values.databaseValues) }
    }
}

extension FetchRequest {
    /// Returns the rows of the tables that a request reads.
    fileprivate func rows(_ db: Database) throws -> StoredRowsRequest {
        let region = try makePreparedRequest(db, forSingleResult: false).statement.databaseRegion
        return .tables { region.isModified(byEventsOfKind: .insert(tableName: $0)) }
    }
}

extension [String: (any DatabaseValueConvertible)?] {
    fileprivate var databaseValues: [(column: String, value: DatabaseValue)] {
        map { ($0.key, $0.value?.databaseValue ?? .null) }
    }

    fileprivate var condition: SQLExpression {
        map { Column($0.key) == ($0.value?.databaseValue ?? .null) }.joined(operator: .and)
    }
}
