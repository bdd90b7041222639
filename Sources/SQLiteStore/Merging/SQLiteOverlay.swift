import FeedModel
import FeedStaging
import GRDB
import FeedStores

/// Rows of several shapes with one key. One pass over every part notes the parts of each key, a column each. The rows are
/// then joined by number.
extension SQLiteMergeDriver {
    func overlaidKeys(of parts: [StagedStack.Part], in table: StoredTable) throws -> OverlaidKeys {
        let key = parts[0].table.keyColumns
        let collations = parts[0].table.keyCollations
        let types = key.map { parts[0].table.table.column($0)?.stagedType ?? "BLOB" }
        let located = key.indices.map { "k\($0)" }.joined(separator: ", ")
        let definition =
            key.indices.map { "k\($0) \(types[$0]) COLLATE \(collations[$0])" }.joined(separator: ", ") + ", "
            + parts.indices.map { "r\($0) INTEGER" }.joined(separator: ", ") + ", UNIQUE (\(located))"
        let overlay = try makeTable("overlay", definition)
        for (index, part) in parts.enumerated() {
            try db.execute(
                cached: """
                    INSERT INTO \(overlay) (\(located), r\(index))
                    SELECT \(key.map { "s." + $0.sqlIdentifier }.joined(separator: ", ")), s.\(StagingTable.row)
                    FROM \(part.table.qualifiedName) s WHERE true ORDER BY s.\(StagingTable.row)
                    ON CONFLICT (\(located)) DO UPDATE SET r\(index) = excluded.r\(index)
                    """)
        }
        let isThere = parts.indices.map { "r\($0) IS NOT NULL" }.joined(separator: ", ")
        let places = parts.indices.map { String($0 + 1) }.joined(separator: ", ")
        let found = try Row.fetchAll(
            db.cachedStatement(
                sql: "SELECT \(isThere), count(*) FROM \(overlay) GROUP BY \(places) ORDER BY min(rowid)"))
        return OverlaidKeys(
            name: overlay,
            combinations: found.map { row in (parts.indices.filter { (row[$0] as Int) != 0 }, row[parts.count]) })
    }

    func stage(_ rows: OverlaidRows, in stored: StoredTable) throws -> StagingTable {
        let (parts, members, shape) = (rows.parts, rows.members, rows.shape)
        var table = shape.table
        var values: [String] = []
        // SQLite joins 64 tables at most (limits.html).
        let joins = members.count <= 60
        func value(_ column: String, of member: Int) -> String {
            joins
                ? "s\(member).\(column)"
                : "(SELECT s.\(column) FROM \(parts[member].table.qualifiedName) s WHERE s.\(StagingTable.row) = o.r\(member))"
        }
        for column in shape.columns {
            let identifier = column.column.name.sqlIdentifier
            if column.writers.count == 1 {
                values.append(value(identifier, of: column.writers[0]))
            } else {
                let cases = column.writers.map { "WHEN o.r\($0) THEN \(value(identifier, of: $0))" }
                values.append("CASE \(latest(column.writers)) \(cases.joined(separator: " ")) END")
            }
        }
        let unique = "UNIQUE (\(table.keyColumns.map(\.sqlIdentifier).joined(separator: ", ")))"
        let definition = table.definition + ", " + unique
        let qualified = try makeTable(
            "combined_\(Fingerprint.hexadecimal("\(table.table.name) \(members)"))", definition)
        table.name = String(qualified.dropFirst(stack.schema.count + 1))
        let joined =
            joins
            ? members.map {
                " CROSS JOIN \(parts[$0].table.qualifiedName) s\($0) ON s\($0).\(StagingTable.row) = o.r\($0)"
            }
            .joined() : ""
        let others = parts.indices.filter { !members.contains($0) }.map { "o.r\($0) IS NULL" }
        let conditions = members.map { "o.r\($0) IS NOT NULL" } + others
        try db.execute(
            cached: """
                INSERT INTO \(qualified) (\(StagingTable.row), \(table.columns.map(\.name.sqlIdentifier).joined(separator: ", ")))
                SELECT \(latest(members)), \(values.joined(separator: ", ")) FROM \(rows.keys) o\(joined)\(conditions.whereClause)
                """)
        return table
    }

    /// Returns an expression for the number of the latest row among those of several parts.
    private func latest(_ members: [Int]) -> String {
        if members.count == 1 { return "o.r\(members[0])" }
        guard members.count > 100 else { return "max(\(members.map { "o.r\($0)" }.joined(separator: ", ")))" }
        let middle = members.count / 2
        return "max(\(latest(Array(members[..<middle]))), \(latest(Array(members[middle...]))))"
    }
}
