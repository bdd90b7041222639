import FeedModel
import FeedStaging
import FeedStores

/// Rows of several shapes with one key. One pass over every part notes the parts of each key, and the numbers of their
/// rows, as arrays. The rows are then joined by number.
extension PostgresMergeDriver {
    func overlaidKeys(of parts: [StagedStack.Part], in table: StoredTable) throws -> OverlaidKeys {
        let key = parts[0].table.keyColumns
        let overlay = try makeTable("overlay", "id bigint, parts integer[], rows bigint[]")
        let names = key.indices.map { "k\($0)" }.joined(separator: ", ")
        let rows = parts.enumerated().map { index, part in
            let values = key.enumerated().map { "s.\($1.sqlIdentifier) AS k\($0)" }.joined(separator: ", ")
            return "SELECT \(index) AS part, s.\(StagingTable.row) AS row, \(values) FROM \(part.table.staged) s"
        }
        try connection.execute(
            """
            INSERT INTO \(overlay) SELECT row_number() OVER (ORDER BY latest, parts), parts, rows FROM (
                SELECT max(row) AS latest, array_agg(part ORDER BY part) AS parts, array_agg(row ORDER BY part) AS rows
                FROM (\(rows.joined(separator: " UNION ALL "))) s GROUP BY \(names)) o
            """)
        try connection.execute("CREATE INDEX IF NOT EXISTS tributary_overlay_parts ON \(overlay) USING hash (parts)")
        try analyze(overlay)
        let found = try connection.execute("SELECT parts, count(*) FROM \(overlay) GROUP BY parts ORDER BY parts")
        return OverlaidKeys(
            name: overlay,
            combinations: try found.map { row in
                (try (row.stringArray(0) ?? []).compactMap { $0.flatMap { Int($0) } }, try row.int(1) ?? 0)
            })
    }

    func stage(_ rows: OverlaidRows, in table: StoredTable) throws -> StagingTable {
        try PostgresOverlay(rows: rows, driver: self).stage()
    }
}

/// The rows of one combination of parts.
private struct PostgresOverlay {
    let rows: OverlaidRows
    let driver: PostgresMergeDriver

    /// The most parts that one statement joins: as many as the planner arranges as it likes ("join_collapse_limit").
    private static let joins = 7
    /// The most columns that one statement joins; PostgreSQL allows 1,664 ("MaxTupleAttributeNumber").
    private static let joinedColumns = 1_200

    func stage() throws -> StagingTable {
        var table = rows.shape.table
        table.name = "tributary_combined_\(rows.number)"
        try createTable(of: table)
        for (index, chunk) in chunks.enumerated() { try write(from: chunk, into: table, isFirst: index == 0) }
        try driver.analyze("\(table.staged) (\(StagingTable.row))")
        return table
    }

    private func createTable(of table: StagingTable) throws {
        let details = try driver.details(of: table.table.name)
        let columns = try table.columns.map { try details.needed($0.name) }.map {
            "\($0.name.sqlIdentifier) \($0.definition)"
        }
        let definitions = (["\(StagingTable.row) bigint NOT NULL"] + columns).joined(separator: ", ")
        try driver.connection.executeScript(
            "DROP TABLE IF EXISTS \(table.staged); CREATE TEMP TABLE \(table.staged) (\(definitions)) ON COMMIT DROP",
            line: nil)
    }

    /// The members, as many together as one statement joins.
    private var chunks: [[Int]] {
        var chunks: [[Int]] = []
        var columns = 0
        for member in rows.members {
            let own = rows.parts[member].table.allColumns.count
            if chunks.isEmpty || chunks[chunks.count - 1].count == Self.joins || columns + own > Self.joinedColumns {
                chunks.append([])
                columns = 0
            }
            chunks[chunks.count - 1].append(member)
            columns += own
        }
        return chunks
    }

    /// Writes the values of some of the members: into new rows, or into rows that earlier members have filled.
    private func write(from chunk: [Int], into table: StagingTable, isFirst: Bool) throws {
        var latest: [[Int]: String] = [:]
        var written: [(name: String, value: String)] = []
        for column in rows.shape.columns {
            let own = column.writers.filter(chunk.contains)
            guard !own.isEmpty else { continue }
            let name = column.column.name.sqlIdentifier
            guard column.writers.count > 1 else {
                written.append((name, "s\(own[0]).\(name)"))
                continue
            }
            if latest[column.writers] == nil { latest[column.writers] = "l.l\(latest.count)" }
            let cases = own.map { "WHEN \(row(of: $0)) THEN s\($0).\(name)" }.joined(separator: " ")
            let other = own == column.writers || isFirst ? "" : " ELSE c.\(name)"
            written.append((name, "CASE \(latest[column.writers] ?? "") \(cases)\(other) END"))
        }
        guard isFirst || !written.isEmpty else { return }
        let joins = chunk.map {
            "JOIN \(rows.parts[$0].table.staged) s\($0) ON s\($0).\(StagingTable.row) = \(row(of: $0))"
        }
        let numbers = latest.map { writers, name in
            "greatest(\(writers.map(row).joined(separator: ", "))) AS \(name.dropFirst(2))"
        }
        let lateral = numbers.isEmpty ? "" : " CROSS JOIN LATERAL (SELECT \(numbers.joined(separator: ", "))) l"
        let source = "\(rows.keys) o \(joins.joined(separator: " "))\(lateral)"
        let isMember = "o.parts = '{\(rows.members.map(String.init).joined(separator: ","))}'"
        if isFirst {
            let names = ([StagingTable.row] + written.map(\.name)).joined(separator: ", ")
            let values = (["o.id"] + written.map(\.value)).joined(separator: ", ")
            try driver.connection.execute(
                "INSERT INTO \(table.staged) (\(names)) SELECT \(values) FROM \(source) WHERE \(isMember)")
            return
        }
        let assignments = written.map { "\($0.name) = \($0.value)" }.joined(separator: ", ")
        try driver.connection.execute(
            """
            UPDATE \(table.staged) AS c SET \(assignments) FROM \(source)
            WHERE \(isMember) AND c.\(StagingTable.row) = o.id
            """)
    }

    /// Returns the number of a key's row in a part.
    private func row(of member: Int) -> String { "o.rows[\((rows.members.firstIndex(of: member) ?? 0) + 1)]" }
}
