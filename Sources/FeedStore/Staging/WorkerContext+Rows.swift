import FeedModel
import Foundation
import GRDB

extension WorkerContext {
    /// Returns the rows of a query. The schema `staged` holds the rows that the run has staged so far, only the last of
    /// several with one key, and `main` holds the main store's. Every table of the store is in both.
    ///
    /// - Parameters:
    ///   - query: a statement that only reads.
    ///   - limit: the maximum number of rows returned.
    /// - Returns: the columns' values as text; nil for NULL. Blobs are hexadecimal digits.
    /// - Throws: ``StoreError`` where the query cannot be run.
    package func rows(_ query: String, limit: Int) throws -> [[String: String?]] {
        try withStatement(query) { statement in
            let rows = try Row.fetchCursor(statement)
            var found: [[String: String?]] = []
            while found.count < limit, let row = try rows.next() {
                found.append(
                    Dictionary(row.map { ($0.0.lowercased(), $0.1.text) }, uniquingKeysWith: { first, _ in first }))
            }
            return found
        }
    }

    /// Returns the columns of a query, in lower case.
    ///
    /// - Throws: ``StoreError`` where the query cannot be run.
    package func columns(ofQuery query: String) throws -> [String] {
        try withStatement(query) { $0.columnNames.map { $0.lowercased() } }
    }

    private func withStatement<Value>(_ query: String, _ body: (Statement) throws -> Value) throws -> Value {
        try flush()
        let database = try openScratch()
        let tables = try store.tables()
        try database.writeWithoutTransaction { db in
            try failure.check()
            try db.exposeStagedRows(of: stagings.map(\.table), among: tables)
        }
        defer {
            // The merge needs their names again, and fails with an error where they are left.
            try? database.writeWithoutTransaction { db in
                for table in tables { try db.execute(sql: "DROP VIEW IF EXISTS main.\(table.name.sqlIdentifier)") }
            }
        }
        var configuration = Configuration()
        configuration.label = "rows"
        configuration.readonly = true
        configuration.prepareDatabase { [path = database.path] db in
            try db.execute(sql: "ATTACH DATABASE ? AS staged", arguments: [path])
        }
        do {
            let reader = try DatabaseQueue(path: store.path, configuration: configuration)
            return try reader.read { db in
                let statement = try db.makeStatement(sql: query)
                guard statement.isReadonly else {
                    throw StoreError(.schema, "for_each: \"\(query)\" writes; it must be a SELECT")
                }
                return try body(statement)
            }
        } catch let error as DatabaseError {
            throw StoreError(.schema, "for_each: \"\(query)\" cannot be run: \(error.message ?? error.description)")
        }
    }
}

extension Database {
    /// Creates views of the staged rows, named like the tables for which they are staged.
    fileprivate func exposeStagedRows(of stagings: [StagingTable], among tables: [StoreTable]) throws {
        let stagings = Dictionary(grouping: stagings) { $0.table.name.lowercased() }
        for table in tables {
            let view = table.name.sqlIdentifier
            var selects: [String] = []
            let staged = stagings[table.name.lowercased()] ?? []
            for staging in staged {
                try execute(sql: staging.indexSQL(isUnique: false))
                let values = table.columns.map(\.name).map { column in
                    staging.value(of: column, "s", among: staged, else: "NULL") + " AS " + column.sqlIdentifier
                }
                selects.append(
                    "SELECT \(values.joined(separator: ", ")) FROM \(staging.name) s"
                        + staging.isLatest("s", among: staged).whereClause)
            }
            if selects.isEmpty {
                let values = table.columns.map { "NULL AS " + $0.name.sqlIdentifier }
                selects = ["SELECT \(values.joined(separator: ", ")) WHERE 0"]
            }
            try execute(
                sql: "DROP VIEW IF EXISTS main.\(view); CREATE VIEW main.\(view) AS "
                    + selects.joined(separator: " UNION ALL "))
        }
    }
}

extension DatabaseValue {
    fileprivate var text: String? {
        switch storage {
        case .null: nil
        case .int64(let number): String(number)
        case .double(let number): String(number)
        case .string(let text): text
        case .blob(let data): data.map { String(format: "%02x", $0) }.joined()
        }
    }
}
