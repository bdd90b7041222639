import FeedModel
import FeedStaging
package import FeedStores
import Foundation
import GRDB

extension SQLiteStore {
    package func changes(_ query: ChangeQuery, _ body: (RowChange) throws -> Void) throws {
        do {
            try pool.read { db in
                let former = try HistoryShape.former(db)
                let tables = try (HistoryShape.all(db) + former).filter { shape in
                    query.table.map { $0.lowercased() == shape.table.name.lowercased() } ?? true
                }
                // Runs of a history that has ended cannot be undone, and are still told.
                let formerRuns = former.map { " OR id IN (SELECT \(HistoryTable.run) FROM \($0.sql))" }.joined()
                // Only what is asked for: a condition that may be none takes no index.
                let conditions = [
                    query.source.map { _ in "AND source = :source" }, query.run.map { _ in "AND id = :run" },
                    query.since.map { _ in "AND started_at >= :since" },
                ]
                let values: [String: (any DatabaseValueConvertible)?] = [
                    "source": query.source, "run": query.run, "since": query.since.map(StoreDate.text),
                ]
                let runs = try Row.fetchCursor(
                    db,
                    sql: """
                        SELECT id, source, started_at FROM main.tributary_run
                        WHERE (history\(formerRuns)) \(conditions.compactMap(\.self).joined(separator: " ")) ORDER BY id
                        """, arguments: StatementArguments(values.compactMapValues(\.self)))
                var passed = query.passedOver
                while let run = try runs.next() {
                    for shape in tables { try shape.changes(db, of: run, passing: &passed, body) }
                }
            }
        } catch let error as DatabaseError {
            throw StoreError(.database, "the history cannot be read: \(error.message ?? error.description)")
        }
    }
}

extension HistoryShape {
    /// Returns the histories of all tables that are still there, by name.
    static func all(_ db: Database) throws -> [HistoryShape] {
        try tables(db).compactMap { name in
            try TableInfo(db, table: name, schema: "main").flatMap { try HistoryShape(db, of: $0) }
        }
    }

    /// Returns the histories that have ended, of all tables that are still there.
    static func former(_ db: Database) throws -> [HistoryShape] {
        try HistoryTable.all(db).compactMap { name in
            guard let table = HistoryTable.table(ofFormer: name) else { return nil }
            return try TableInfo(db, table: table, schema: "main").flatMap {
                try HistoryShape(db, of: $0, former: name)
            }
        }
    }

    /// Returns the names of all tables that have a history, even if they are gone.
    static func tables(_ db: Database) throws -> [String] {
        let length = HistoryTable.prefix.count
        return try String.fetchAll(
            db,
            sql: """
                SELECT substr(name, \(length + 1)) FROM main.sqlite_schema
                WHERE type = 'table' AND substr(name, 1, \(length)) = '\(HistoryTable.prefix)' ORDER BY name
                """)
    }

    /// Reports what a run has changed. A row as the run left it is what the row's next entry keeps, or the row as it is.
    ///
    /// - Parameter passed: the number of changes still to be passed over.
    fileprivate func changes(
        _ db: Database, of run: Row, passing passed: inout Int, _ body: (RowChange) throws -> Void
    ) throws {
        let offset = passed
        if offset > 0 {
            let count =
                try Int.fetchOne(
                    db.cachedStatement(sql: "SELECT count(*) FROM \(sql) WHERE \(HistoryTable.run) = ?"),
                    arguments: [run["id"] as Int64]) ?? 0
            passed -= min(offset, count)
            guard count > offset else { return }
        }
        let values = columns.map(\.sqlIdentifier)
        let entries = try Row.fetchCursor(
            db.cachedStatement(
                sql: """
                    SELECT \(HistoryTable.ownColumns.joined(separator: ", ")), \(values.joined(separator: ", "))
                    FROM \(sql) WHERE \(HistoryTable.run) = ? ORDER BY \(HistoryTable.id) LIMIT -1 OFFSET ?
                    """), arguments: [run["id"] as Int64, offset])
        // Of rows that were told apart by another key, only what the history itself keeps is known.
        let hasKey = has(identity)
        let isSame = hasKey ? groupColumns.map { "n.\($0) = h.\($0)" }.joinedConditions("AND") : "0"
        let isStored = hasKey && former == nil ? isRow("m", "h") : "0"
        while let entry = try entries.next() {
            let id: Int64 = entry[HistoryTable.id]
            let width: Int = entry[HistoryTable.width]
            let next = try Row.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT n.\(HistoryTable.after), \(digest(ofEntry: "n", width: width)), \(values.map { "n." + $0 }.joined(separator: ", "))
                        FROM \(sql) h JOIN \(sql) n ON n.\(HistoryTable.id) > h.\(HistoryTable.id) AND \(isSame)
                        WHERE h.\(HistoryTable.id) = ? ORDER BY n.\(HistoryTable.id) LIMIT 1
                        """), arguments: [id])
            let found =
                try next
                ?? Row.fetchOne(
                    db.cachedStatement(
                        sql: """
                            SELECT NULL, \(digest(ofStored: "m", width: width)), \(columns.map { stored($0, in: "m") }.joined(separator: ", "))
                            FROM \(sql) h JOIN main.\(table.name.sqlIdentifier) m ON \(isStored) WHERE h.\(HistoryTable.id) = ?
                            """), arguments: [id])
            try body(change(entry, found, width, run))
        }
    }

    private func change(_ entry: Row, _ found: Row?, _ width: Int, _ run: Row) -> RowChange {
        func values(_ row: Row, from place: Int) -> RowChange.Values {
            (0..<width).map { (columns[$0], StoredValue(row[place + $0] as DatabaseValue)) }
        }
        let kept = values(entry, from: HistoryTable.ownColumns.count)
        let after: Int64? = entry[HistoryTable.after]
        let isKnown = (found?[1] as Int64?) == after
        let key = identity.isEmpty ? table.primaryKey : identity
        let names = Set(key.map { $0.lowercased() })
        var keyValues = kept.filter { names.contains($0.column.lowercased()) }
        if key.isEmpty { keyValues = [(table.rowID ?? "rowid", StoredValue(entry[HistoryTable.row] as DatabaseValue))] }
        let operation: String = entry[HistoryTable.operation]
        return RowChange(
            run: run["id"], source: run["source"], startedAt: StoreDate.date(run["started_at"]) ?? .distantPast,
            table: table.name, operation: operation, key: keyValues, old: operation == "insert" ? nil : kept,
            new: after != nil && isKnown ? found.map { values($0, from: 2) } : nil, isKnown: isKnown)
    }
}
