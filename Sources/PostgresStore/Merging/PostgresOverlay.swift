import FeedModel
import FeedStaging
import FeedStores
import Merging
import PostgresClient

/// Rows of several shapes with one key. A column that several of them have comes from the latest, by request and then
/// by document. A column that only one has comes from that one.
extension PostgresMergeDriver {
    /// Returns parts with the same rows but no key in common: one part for each combination of parts that have rows of
    /// the same key.
    ///
    /// One pass over every part notes the parts of each key, and the numbers of their rows. The rows are then joined by
    /// number.
    func combined(
        _ parts: [StagedStack.Part], of table: any StoredTable, in merge: MergeContext
    ) throws -> [StagedStack.Part] {
        guard case .key(let key, _) = parts[0].table.identity else { return parts }
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
        try connection.execute("ANALYZE \(overlay)")
        let patterns = try connection.execute("SELECT parts, count(*) FROM \(overlay) GROUP BY parts ORDER BY parts")
        return try patterns.enumerated().map { number, pattern in
            let members = try (pattern.stringArray(0) ?? []).compactMap { $0.flatMap { Int($0) } }
            if members.count == 1, try pattern.int(1) == parts[members[0]].counts.rows { return parts[members[0]] }
            return try OverlaidRows(
                merge: merge, driver: self, parts: parts, members: members, overlay: overlay, number: number
            ).combined()
        }
    }
}
