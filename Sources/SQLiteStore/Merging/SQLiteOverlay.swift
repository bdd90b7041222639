import FeedModel
import FeedStaging
import GRDB
import Merging

/// Rows of several shapes with one key. A column that several of them have comes from the latest, by request and then
/// by document. A column that only one has comes from that one.
extension SQLiteMergeDriver {
    /// Returns parts with the same rows but no key in common: one part for each combination of parts that have rows of
    /// the same key.
    ///
    /// One pass over every part notes the parts of each key. The rows are then joined by number.
    func combined(
        _ parts: [StagedStack.Part], of table: any StoredTable, in merge: MergeContext
    ) throws -> [StagedStack.Part] {
        guard case .key(let key, let collations) = parts[0].table.identity else { return parts }
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
        let patterns = try Row.fetchAll(
            db.cachedStatement(
                sql:
                    "SELECT DISTINCT \(parts.indices.map { "r\($0) IS NOT NULL" }.joined(separator: ", ")) FROM \(overlay)"
            ))
        return try patterns.map { row in
            try combine(parts.indices.filter { (row[$0] as Int) != 0 }, of: parts, overlay, key: key, in: merge)
        }
    }

    /// Returns the rows of keys that these parts have and no other part has.
    private func combine(
        _ members: [Int], of parts: [StagedStack.Part], _ overlay: String, key: [String],
        in merge: MergeContext
    ) throws -> StagedStack.Part {
        let shape = OverlaidShape(members, of: parts)
        merge.state.outOfScopeRows.formUnion(shape.outOfScopeRows)
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
        let unique = "UNIQUE (\(key.map(\.sqlIdentifier).joined(separator: ", ")))"
        let definition = table.definition + ", " + unique
        let qualified = try makeTable(
            "combined_\(Fingerprint.hexadecimal("\(table.table.name) \(members)"))", definition)
        table.name = String(qualified.dropFirst(stack.schema.count + 1))
        let rows =
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
                SELECT \(latest(members)), \(values.joined(separator: ", ")) FROM \(overlay) o\(rows)\(conditions.whereClause)
                """)
        let counts = StagedCounts()
        counts.rows = db.changesCount
        return StagedStack.Part(
            table: table, counts: counts, isSorted: members.contains { parts[$0].isSorted }, batches: [])
    }

    /// Returns an expression for the number of the latest row among those of several parts.
    private func latest(_ members: [Int]) -> String {
        if members.count == 1 { return "o.r\(members[0])" }
        guard members.count > 100 else { return "max(\(members.map { "o.r\($0)" }.joined(separator: ", ")))" }
        let middle = members.count / 2
        return "max(\(latest(Array(members[..<middle]))), \(latest(Array(members[middle...]))))"
    }
}
