import FeedModel
import Foundation
public import GRDB

/// Queries for parsers: rows staged by their own run first, then those of the main store.
extension WorkerContext {
    /// Returns the row with this primary key: a staged one first, then the main store's.
    public func fetchOne<Record: FetchableRecord & TableRecord>(
        _ type: Record.Type = Record.self, key: some DatabaseValueConvertible
    ) throws -> Record? {
        let condition = try primaryKeyCondition(of: Record.databaseTableName, value: key)
        return try read { try Record.filter(sql: condition, arguments: [key]).fetchOne($0) }
    }

    /// Returns the row whose columns have these values: a staged one first, then the main store's.
    public func fetchOne<Record: FetchableRecord & TableRecord>(
        _ type: Record.Type = Record.self, key: [String: (any DatabaseValueConvertible)?]
    ) throws -> Record? {
        try read { try Record.filter(key.condition).fetchOne($0) }
    }

    /// Returns the first row of a request. A table's rows are the staged ones, and those of the main store that they
    /// will not replace.
    public func fetchOne<Request: FetchRequest>(_ request: Request) throws -> Request.RowDecoder?
    where Request.RowDecoder: FetchableRecord {
        try read { try request.fetchOne($0) }
    }

    /// Returns all rows of a request. A table's rows are the staged ones, and those of the main store that they will
    /// not replace.
    public func fetchAll<Request: FetchRequest>(_ request: Request) throws -> [Request.RowDecoder]
    where Request.RowDecoder: FetchableRecord {
        try read { try request.fetchAll($0) }
    }

    /// Returns every row of a record's table, staged or in the main store.
    public func fetchAll<Record: FetchableRecord & TableRecord>(_ type: Record.Type) throws -> [Record] {
        try read { try Record.fetchAll($0) }
    }

    /// Returns the first row of a request in the main store. Staged rows are not read, so it is quick.
    public func fetchStored<Request: FetchRequest>(_ request: Request) throws -> Request.RowDecoder?
    where Request.RowDecoder: FetchableRecord {
        try store.pool.read { try request.fetchOne($0) }
    }

    /// Returns true if a row with this primary key is staged or in the main store.
    public func exists<Record: TableRecord>(_ type: Record.Type, key: some DatabaseValueConvertible) throws -> Bool {
        let condition = try primaryKeyCondition(of: Record.databaseTableName, value: key)
        return try read { try !Record.filter(sql: condition, arguments: [key]).isEmpty($0) }
    }

    /// Returns true if a row whose columns have these values is staged or in the main store.
    public func exists<Record: TableRecord>(
        _ type: Record.Type, key: [String: (any DatabaseValueConvertible)?]
    ) throws -> Bool {
        try read { try !Record.filter(key.condition).isEmpty($0) }
    }

    /// Returns true if a request has any row.
    public func exists<RowDecoder>(_ request: QueryInterfaceRequest<RowDecoder>) throws -> Bool {
        try read { try !request.isEmpty($0) }
    }

    private func primaryKeyCondition(of table: String, value: some DatabaseValueConvertible) throws -> String {
        let info = try tableInfo(table)
        guard info.primaryKey.count == 1 else {
            throw StoreError(
                .schema, "the primary key of table '\(table)' is not one column; give the key as [column: value]")
        }
        return "\(info.primaryKey[0].sqlIdentifier) = ?"
    }

    /// Reads after everything staged so far has been written.
    private func read<Value>(_ value: (Database) throws -> Value) throws -> Value {
        try flush()
        return try openScratch().writeWithoutTransaction { db in
            try failure.check()
            if !isStoreAttached {
                try db.execute(sql: "ATTACH DATABASE ? AS store", arguments: [store.path])
                isStoreAttached = true
            }
            if !viewsAreCurrent {
                try db.overlayStagedRows(of: stagings.map(\.table))
                viewsAreCurrent = true
            }
            return try value(db)
        }
    }
}

extension [String: (any DatabaseValueConvertible)?] {
    fileprivate var condition: SQLExpression {
        map { Column($0.key) == ($0.value?.databaseValue ?? .null) }.joined(operator: .and)
    }
}
