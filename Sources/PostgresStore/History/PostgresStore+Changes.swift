import FeedModel
import FeedStaging
package import FeedStores
import Foundation
import PostgresClient

extension PostgresStore {
    package func changes(_ query: ChangeQuery, _ body: (RowChange) throws -> Void) throws {
        do {
            try connections.withConnection { connection in
                // All of it is read as it is at one moment.
                try connection.inTransaction {
                    try connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                    try connection.fixTexts()
                    let tables = MergeTables(connection, tableDetails)
                    let former = try HistoryShape.former(connection, tables)
                    // Runs of a history that has ended cannot be undone, and are still told.
                    let formerRuns = former.map { " OR id IN (SELECT \(HistoryTable.run) FROM \($0.sql))" }.joined()
                    let shapes = try (HistoryShape.all(connection, tables) + former).filter { shape in
                        query.table.map { $0.lowercased() == shape.table.name.lowercased() } ?? true
                    }
                    let runs = try connection.execute(
                        """
                        SELECT id, source, \(PostgresDate.sql("started_at")) FROM tributary_run
                        WHERE (history\(formerRuns)) AND ($1::text IS NULL OR source = $1) AND ($2::bigint IS NULL OR id = $2)
                        AND ($3::timestamptz IS NULL OR started_at >= $3) ORDER BY id
                        """,
                        [
                            query.source.map { .text($0) }, query.run.map { .integer($0) },
                            query.since.map(PostgresDate.value),
                        ])
                    var passed = query.passedOver
                    for run in runs {
                        let change = RowChange(
                            run: try run.int64(0) ?? 0, source: run.string(1) ?? "",
                            startedAt: try run.date(2) ?? .distantPast)
                        for shape in shapes { try shape.forEachChange(change, passing: &passed, connection, body) }
                    }
                }
            }
        } catch let error as PostgresError {
            throw StoreError(reading: error, store: description)
        }
    }
}

extension HistoryShape {
    /// Reports what a run has changed. A row as the run left it is what the row's next entry keeps, or the row as it is.
    ///
    /// - Parameters:
    ///   - change: the run.
    ///   - passed: the number of changes still to be passed over.
    fileprivate func forEachChange(
        _ change: RowChange, passing passed: inout Int, _ connection: PostgresConnection,
        _ body: (RowChange) throws -> Void
    ) throws {
        // Of rows that were told apart by another key, only what the history itself keeps is known.
        func isSame(_ row: String) -> String { hasIdentity ? isRow(row, "h") : "false" }
        let isStored = former == nil ? isSame("m") : "false"
        let widths = try connection.execute(
            """
            SELECT \(HistoryTable.width), count(*) FROM \(sql) WHERE \(HistoryTable.run) = \(change.run)
            GROUP BY 1 ORDER BY 1
            """
        ).map { (width: try $0.int(0) ?? 0, count: try $0.int(1) ?? 0) }
        for (width, count) in widths {
            let offset = passed
            passed -= min(offset, count)
            guard count > offset else { continue }
            let names = columns.prefix(width)
            func values(_ value: (String) -> String) -> String {
                "ARRAY[\(names.map { value($0) + "::text" }.joined(separator: ", "))]"
            }
            let known = names.map { table.column($0) }
            let query = """
                SELECT h.\(HistoryTable.operation), h.\(HistoryTable.after), \(values { "h.\($0.postgresIdentifier)" }),
                    n.\(HistoryTable.id) IS NOT NULL, \(digest(ofEntry: "n", width: width)),
                    \(values { "n.\($0.postgresIdentifier)" }),
                    \(digest(ofStored: "m", width: width)), \(values { stored($0, in: "m") })
                FROM \(sql) h LEFT JOIN LATERAL (
                    SELECT * FROM \(sql) x WHERE \(isSame("x")) AND x.\(HistoryTable.id) > h.\(HistoryTable.id)
                    ORDER BY x.\(HistoryTable.id) LIMIT 1) n ON true
                LEFT JOIN \(table.sql) m ON \(isStored)
                WHERE h.\(HistoryTable.run) = \(change.run) AND h.\(HistoryTable.width) = \(width)
                ORDER BY h.\(HistoryTable.id) OFFSET \(offset)
                """
            try connection.forEachRow(of: query, []) { row in
                func read(_ place: Int) throws -> RowChange.Values {
                    zip(zip(names, known), try row.stringArray(place) ?? []).map { column, text in
                        (column.0, StoredValue(text, of: column.1))
                    }
                }
                var change = change
                change.table = table.name
                change.operation = row.string(0) ?? ""
                let kept = try read(2)
                change.key = kept.filter { keyColumns.contains($0.column) }
                change.old = change.operation == "insert" ? nil : kept
                let after = try row.int64(1)
                let place = try row.bool(3) == true ? 4 : 6
                change.isKnown = try row.int64(place) == after
                change.new = try after != nil && change.isKnown ? read(place + 1) : nil
                try body(change)
                return .next
            }
        }
    }
}

extension StoredValue {
    /// A value from its text.
    ///
    /// - Parameter column: nil for a column that the table has lost.
    fileprivate init(_ text: String?, of column: ColumnDetails?) {
        guard let text else {
            self = .null
            return
        }
        let isNumber = column.map { $0.isInteger || $0.isFloat } ?? false
        self =
            if isNumber, let integer = Int64(text) {
                .integer(integer)
            } else if isNumber, let real = Double(text) {
                .real(real)
            } else {
                .text(text)
            }
    }
}
