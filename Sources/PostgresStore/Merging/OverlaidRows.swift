import FeedModel
import FeedStaging
import FeedStores
import Merging
import PostgresClient

/// The rows of the keys that some parts of a stack have and no other part has.
struct OverlaidRows {
    let merge: MergeContext
    let driver: PostgresMergeDriver
    let parts: [StagedStack.Part]
    /// The positions of the parts that have rows of these keys.
    let members: [Int]
    /// The merge's table of keys: the parts that have each, and the numbers of their rows.
    let overlay: String
    /// A number that tells this combination of parts from others.
    let number: Int

    /// The most parts that one statement joins: as many as the planner arranges as it likes ("join_collapse_limit").
    private static let joins = 7
    /// The most columns that one statement joins; PostgreSQL allows 1,664 ("MaxTupleAttributeNumber").
    private static let joinedColumns = 1_200

    /// Returns the rows as a part of their own.
    func combined() throws -> StagedStack.Part {
        let shape = OverlaidShape(members, of: parts)
        merge.state.outOfScopeRows.formUnion(shape.outOfScopeRows)
        var table = shape.table
        table.name = "tributary_combined_\(number)"
        try createTable(of: table)
        let counts = StagedCounts()
        for (index, chunk) in chunks.enumerated() {
            let written = try write(shape.columns, from: chunk, into: table, isFirst: index == 0)
            if index == 0 { counts.rows = written }
        }
        try driver.connection.execute("ANALYZE \(table.staged) (\(StagingTable.row))")
        return StagedStack.Part(
            table: table, counts: counts, isSorted: members.contains { parts[$0].isSorted }, batches: [])
    }

    private func createTable(of table: StagingTable) throws {
        let details = try driver.details(of: table.table.name)
        let columns = try table.columns.map { try details.needed($0.name) }.map {
            "\($0.name.sqlIdentifier) \($0.definition)"
        }
        let definitions = (["\(StagingTable.row) bigint NOT NULL"] + columns).joined(separator: ", ")
        try driver.connection.executeScript(
            "DROP TABLE IF EXISTS \(table.staged); CREATE TEMP TABLE \(table.staged) (\(definitions)) ON COMMIT DROP")
    }

    /// The members, as many together as one statement joins.
    private var chunks: [[Int]] {
        var chunks: [[Int]] = []
        var columns = 0
        for member in members {
            let own = parts[member].table.allColumns.count
            if chunks.isEmpty || chunks[chunks.count - 1].count == Self.joins || columns + own > Self.joinedColumns {
                chunks.append([])
                columns = 0
            }
            chunks[chunks.count - 1].append(member)
            columns += own
        }
        return chunks
    }

    /// Writes the values that come from some of the members: into new rows, or into those that the members before them
    /// have filled.
    ///
    /// - Returns: the number of rows.
    private func write(_ columns: [OverlaidShape.Column], from chunk: [Int], into table: StagingTable, isFirst: Bool)
        throws -> Int
    {
        var latest: [[Int]: String] = [:]
        var written: [(name: String, value: String)] = []
        for column in columns {
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
        guard isFirst || !written.isEmpty else { return 0 }
        let joins = chunk.map { "JOIN \(parts[$0].table.staged) s\($0) ON s\($0).\(StagingTable.row) = \(row(of: $0))" }
        let numbers = latest.map { writers, name in
            "greatest(\(writers.map(row).joined(separator: ", "))) AS \(name.dropFirst(2))"
        }
        let lateral = numbers.isEmpty ? "" : " CROSS JOIN LATERAL (SELECT \(numbers.joined(separator: ", "))) l"
        let rows = "\(overlay) o \(joins.joined(separator: " "))\(lateral)"
        let isMember = "o.parts = '{\(members.map(String.init).joined(separator: ","))}'"
        if isFirst {
            let names = ([StagingTable.row] + written.map(\.name)).joined(separator: ", ")
            let values = (["o.id"] + written.map(\.value)).joined(separator: ", ")
            return try driver.connection.execute(
                "INSERT INTO \(table.staged) (\(names)) SELECT \(values) FROM \(rows) WHERE \(isMember)"
            ).affectedRows
        }
        let assignments = written.map { "\($0.name) = \($0.value)" }.joined(separator: ", ")
        return try driver.connection.execute(
            """
            UPDATE \(table.staged) AS c SET \(assignments) FROM \(rows)
            WHERE \(isMember) AND c.\(StagingTable.row) = o.id
            """
        ).affectedRows
    }

    /// Returns the number of a key's row in a part.
    private func row(of member: Int) -> String { "o.rows[\((members.firstIndex(of: member) ?? 0) + 1)]" }
}
