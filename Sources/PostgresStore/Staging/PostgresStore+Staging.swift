import FeedModel
package import FeedStaging
import FeedStores
package import GRDB

/// Queries over stored and staged rows.
extension PostgresStore: StagingStore {
    package func storedRow(of table: String, _ values: [(column: String, value: DatabaseValue)]) throws -> Row? {
        try askForRows("a row that a parser looks up") { connection, _ in
            let table = try details(of: table, connection)
            let condition = RowCondition(try values.map { (try table.needed($0.column), $0.value) })
            let columns = table.columns.map(\.sql).joined(separator: ", ")
            let result = try connection.executeBriefly(
                "SELECT \(columns) FROM \(table.sql)\(condition.sql) LIMIT 1", condition.parameters)
            guard let row = result.first else { return nil }
            let types = result.columnTypes
            return Row(
                Dictionary(
                    try table.columns.enumerated().map { ($1.name, try row.databaseValue($0, type: types[$0])) }
                ) { first, _ in first })
        }
    }

    package func attachStoredTables(to scratch: Database) throws {
        let tables = try ask { try Catalog($0).usersTables() }
        try StoredCopy(db: scratch).attach(tables)
    }

    package func provideStoredRows(_ request: StoredRowsRequest, to scratch: Database) throws {
        let copy = StoredCopy(db: scratch)
        try askForRows("a table that a parser looks up") { connection, settings in
            try connection.inDiscardedTransaction(isReadOnly: true, settings: settings) {
                try provide(request, by: copy, connection)
            }
        }
    }

    private func provide(
        _ request: StoredRowsRequest, by copy: StoredCopy, _ connection: PostgresConnection
    ) throws {
        switch request {
        case .matching(let name, let values):
            let table = try details(of: name, connection)
            try copy.renew(table)
            guard try !copy.isWhole(table) else { return }
            let wanted = values.compactMap { entry in table.column(entry.column).map { ($0, entry.value) } }
            // Without a primary key, rows that were copied twice could not be distinguished.
            guard wanted.count == values.count, !wanted.isEmpty, !table.primaryKey.isEmpty else {
                return try copy.copy(table, from: connection)
            }
            try copy.copy(table, matching: wanted, from: connection)
        case .tables(let isWanted):
            for name in try copy.tableNames() where try isWanted(name) {
                let table = try details(of: name, connection)
                try copy.renew(table)
                if try !copy.isWhole(table) { try copy.copy(table, from: connection) }
            }
        }
    }

    package func rows(_ query: String, limit: Int, staged: StagedView) throws -> QueriedRows {
        try askForRows("the result of for_each: \"\(query)\"") { connection, settings in
            let stagedQuery = try StagedQuery(query, catalog: Catalog(connection))
            do {
                return try connection.inDiscardedTransaction(settings: settings) {
                    try stagedQuery.rows(limit: limit, staged: staged.database, connection)
                }
            } catch let error as PostgresError where !error.isTransient || error.state == .readOnlyTransaction {
                if stagedQuery.isWriting || error.state == .readOnlyTransaction {
                    throw StoreError(.schema, "\"\(query)\" writes", help: "it must be a SELECT")
                }
                let place = error.context.map { " (\($0))" } ?? ""
                throw StoreError(.schema, "\"\(query)\" cannot be run: \(error.message)\(place)")
            }
        }
    }
}

extension PostgresConnection {
    /// Runs a body in a transaction that is rolled back, or in one that is in progress. A connection on which that
    /// fails is in no state to be used again.
    func inDiscardedTransaction<Value>(
        isReadOnly: Bool = false, settings: PostgresStore.Settings, _ body: () throws -> Value
    ) throws -> Value {
        guard transactionStatus != .inTransaction else { return try body() }
        let all = [("extra_float_digits", "1"), ("bytea_output", "hex")] + settings
        try executeScript(
            """
            BEGIN\(isReadOnly ? " READ ONLY" : "");
            \(all.map { "SET LOCAL \($0.0) = \($0.1)" }.joined(separator: "; "))
            """)
        defer { _ = try? execute("ROLLBACK") }
        return try body()
    }
}

extension PostgresStore {
    package func copy(_ tables: [String]?, to path: String) throws {
        do {
            let file = try DatabaseQueue()
            try file.inDatabase { db in
                try snapshot { connection in
                    let copied =
                        try tables.map { try $0.map { try details(of: $0, connection) } }
                        ?? Catalog(connection).usersTables()
                    let copy = StoredCopy(db: db)
                    try copy.attach(copied, file: path)
                    for table in copied { try copy.copy(table, from: connection) }
                    try copy.detach()
                }
            }
        } catch let error as PostgresError {
            throw StoreError(reading: error, store: description)
        } catch let error as DatabaseError {
            throw StoreError(.unavailable, "\(path): the copy cannot be written: \(error.message ?? error.description)")
        }
    }
}
