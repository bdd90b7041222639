import FeedModel
import Foundation
import GRDB

extension WorkerContext {
    /// Returns the columns of a query, in lower case.
    ///
    /// - Throws: ``StoreError`` if the query cannot be run.
    package func columns(ofQuery query: String) throws -> [String] { try rows(query, limit: 0).columns }

    /// Returns the rows of a query. The schema `staged` holds the rows that the run has staged so far, only the last of
    /// several with one key, and `main` holds the main store's. Every table of the store is in both.
    ///
    /// - Parameters:
    ///   - query: a statement that only reads.
    ///   - limit: the maximum number of rows returned.
    /// - Returns: the columns' values as text; nil for NULL. Blobs are hexadecimal digits.
    /// - Throws: ``StoreError`` if the query cannot be run.
    package func rows(_ query: String, limit: Int) throws -> QueriedRows {
        try withStagedViews { database in
            try store.rows(
                query, limit: limit, staged: StagedView(database: database, stagings: stagings.map(\.table)))
        }
    }

    /// Runs a body while the scratch database has views of the staged rows, named like the store's tables.
    ///
    /// - Parameter forConditions: true if the views are read by SQLite alone: what another store stages as text is a
    ///   number then, if its type is that of numbers.
    func withStagedViews<Value>(
        forConditions: Bool = false, _ body: (DatabaseQueue) throws -> Value
    ) throws -> Value {
        try flush()
        let tables = try store.tables()
        try inScratch { db in
            try db.exposeStagedRows(of: stagings.map(\.table), among: tables, withNumbers: forConditions)
        }
        let database = try openScratch()
        defer {
            // The merge needs their names again, and fails with an error where they are left.
            try? database.writeWithoutTransaction { db in
                for table in tables { try db.execute(sql: "DROP VIEW IF EXISTS main.\(table.name.sqlIdentifier)") }
            }
        }
        return try body(database)
    }
}

extension Database {
    /// Creates views of the staged rows, named like the tables for which they are staged.
    ///
    /// - Parameter withNumbers: true if texts of columns for numbers and booleans become numbers.
    fileprivate func exposeStagedRows(
        of stagings: [StagingTable], among tables: [StoreTable], withNumbers: Bool
    ) throws {
        let stagings = Dictionary(grouping: stagings) { $0.table.name.lowercased() }
        for table in tables {
            let view = table.name.sqlIdentifier
            var selects: [String] = []
            let staged = stagings[table.name.lowercased()] ?? []
            for staging in staged {
                try execute(sql: staging.indexSQL(isUnique: false))
                let values = table.columns.map { column in
                    let value = staging.value(of: column.name, "s", among: staged, else: "NULL")
                    let isNumber = withNumbers && staging.table.column(column.name)?.isNumberInText == true
                    return (isNumber ? "CAST(\(value) AS NUMERIC)" : value) + " AS " + column.name.sqlIdentifier
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

extension TableInfo.Column {
    /// True for PostgreSQL's numbers and booleans that are staged as they are written.
    fileprivate var isNumberInText: Bool {
        let type = declaredType.lowercased()
        return stagedType == "TEXT" && ["numeric", "decimal", "bool"].contains { type.hasPrefix($0) }
    }
}
