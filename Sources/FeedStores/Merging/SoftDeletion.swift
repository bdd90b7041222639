import FeedModel
import FeedStaging

/// Rows that are marked as deleted (`deleted` in `sources.toml`).
///
/// A row that is marked counts, and is written to the changelog, as deleted. One that the feed has again counts as
/// inserted, and gets the feed's values in the same statement.
struct SoftDeletion {
    let merge: MergeContext

    /// Marks rows as deleted.
    func mark(_ missing: RowList, _ mark: String) throws -> MergeCounts {
        _ = try ChangeReport(merge: merge).deletions([missing])
        try merge.images?.add(missing)
        let marked = try set(mark, to: "\(bind: merge.retention.timeText)", of: missing)
        // A trigger may have kept some from being marked.
        let isMarked =
            " \(merge.dialect.join) \(missing.table.sql) m ON \(missing.isRow("m", "g")) AND m.\(mark) IS NOT NULL"
        let all = try merge.count(missing.name)
        try merge.log(
            "delete", missing.table.name, key: "g.key",
            from: "\(missing.name) g\(marked == all ? "" : isMarked) ORDER BY g.id")
        return MergeCounts(deleted: marked)
    }

    /// Clears the marks of rows of the store, `m`.
    ///
    /// - Parameter staged: the rows' staging table, whose columns are reported.
    /// - Returns: their number.
    func restore(
        _ table: StoredTable, _ mark: String, where condition: String, as staged: StagingTable
    ) throws -> Int {
        let rows = try merge.makeList("restored", of: table, .update)
        let count = try merge.append(
            to: rows, from: "\(table.sql) m WHERE m.\(mark) IS NOT NULL AND \(condition)")
        guard count > 0 else { return 0 }
        let columns = try staged.allColumns.map { try table.needed($0.name) }
        try ChangeReport(merge: merge).report(
            table.name, .insert, columns, key: staged.keyColumns,
            "SELECT \(columns.list("m")) FROM \(rows.stored(merge.dialect)) ORDER BY g.id")
        try merge.images?.add(rows)
        _ = try set(mark, to: "NULL", of: rows)
        try merge.log("insert", table.name, key: "g.key", from: "\(rows.name) g ORDER BY g.id")
        return count
    }

    private func set(_ mark: String, to value: SQLText, of rows: RowList) throws -> Int {
        try merge.driver.execute(merge.dialect.update(rows, [(mark, value)], joined: "", isConstant: true))
    }
}
