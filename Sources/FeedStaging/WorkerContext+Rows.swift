import FeedModel
import Foundation
import GRDB

extension WorkerContext {
    /// Returns the columns of a query, in lower case.
    ///
    /// - Throws: ``StoreError`` if the query cannot be run.
    package func columns(ofQuery query: String) throws -> [String] { try rows(query, limit: 0).columns }

    /// Returns the rows of a query. The schema `staged` holds the rows that a commit would merge now, and `main` holds
    /// the main store's. Every table of the store is in both.
    ///
    /// - Parameters:
    ///   - query: a statement that only reads.
    ///   - limit: the maximum number of rows returned.
    /// - Returns: the columns' values as text; nil for NULL. Blobs are hexadecimal digits.
    /// - Throws: ``StoreError`` if the query cannot be run.
    package func rows(_ query: String, limit: Int) throws -> QueriedRows {
        try exposeStagedRows(to: query)
        return try store.rows(
            query, limit: limit, staged: StagedView(database: openScratch(), stagings: stagings.map(\.table)))
    }

    /// Makes views of the staged rows in the scratch database, named like the store's tables: of each table for which
    /// rows are staged, and each that a text names.
    ///
    /// - Parameter forConditions: true if the views are read by SQLite alone: what another store stages as text is a
    ///   number then, if its type is that of numbers.
    func exposeStagedRows(to text: String, forConditions: Bool = false) throws {
        var live = try liveRows()
        let text = text.lowercased()
        let staged = Dictionary(grouping: live.stagings) { $0.table.name.lowercased() }
        let missing = live.tables.filter { table in
            let name = table.name.lowercased()
            guard live.views[name] != forConditions else { return false }
            return staged[name] != nil || text.contains(name)
                || text.contains(name.sqlIdentifier.dropFirst().dropLast())
        }
        guard !missing.isEmpty else { return }
        try inScratch { db in
            for table in missing {
                let name = table.name.lowercased()
                viewNames.insert(table.name)
                try db.exposeStagedRows(staged[name] ?? [], of: table, withNumbers: forConditions)
                live.views[name] = forConditions
            }
        }
        self.live = live
    }
}

extension Database {
    /// Creates a view of the staged rows of a table, under its name.
    ///
    /// - Parameters:
    ///   - staged: the table's rows that count, by their shapes.
    ///   - withNumbers: true if texts of columns for numbers and booleans become numbers.
    fileprivate func exposeStagedRows(
        _ staged: [StagingTable], of table: StoredTable, withNumbers: Bool
    ) throws {
        let view = table.name.sqlIdentifier
        var selects = staged.map { staging in
            let values = table.writableColumns.map { column in
                let value = staging.value(of: column.name, "s", among: staged, else: "NULL")
                let isNumber = withNumbers && staging.table.column(column.name)?.isNumberInText == true
                return (isNumber ? "CAST(\(value) AS NUMERIC)" : value) + " AS " + column.sql
            }
            let others = staged.filter { $0.name != staging.name }
            return "SELECT \(values.joined(separator: ", ")) FROM \(staging.name) s"
                + staging.isLatest("s", among: others).whereClause
        }
        if selects.isEmpty {
            let values = table.writableColumns.map { "NULL AS " + $0.sql }
            selects = ["SELECT \(values.joined(separator: ", ")) WHERE 0"]
        }
        try execute(
            sql: "DROP VIEW IF EXISTS main.\(view); CREATE VIEW main.\(view) AS "
                + selects.joined(separator: " UNION ALL "))
    }
}

extension StoredTable.Column {
    /// True for PostgreSQL's numbers and booleans that are staged as they are written.
    fileprivate var isNumberInText: Bool {
        let type = type.lowercased()
        return stagedType == "TEXT" && ["numeric", "decimal", "bool"].contains { type.hasPrefix($0) }
    }
}
