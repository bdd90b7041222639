import FeedStaging
import GRDB

extension StagingTable {
    /// Returns a condition that two aliases stand for the same row: by key, or by every column.
    func isSameRow(_ left: String, _ right: String) -> String {
        if case .key = identity { return matches(left, right) }
        let columns = identityColumns.map(\.sqlIdentifier)
        let first = columns.prefix(Self.manyColumns).map { "\(left).\($0) IS \(right).\($0)" }
        guard isIdentifiedByManyColumns else { return first.joinedConditions("AND") }
        // The planner does not look into a negation. Its time grows with the cube of the conditions that it looks at.
        let others = columns.dropFirst(Self.manyColumns).map { "\(left).\($0) IS NOT \(right).\($0)" }
        return (first + ["NOT (\(others.joinedConditions("OR")))"]).joinedConditions("AND")
    }

    static let manyColumns = 60

    /// True if rows are compared whole, and have too many columns for an index look-up.
    var isIdentifiedByManyColumns: Bool { identity == .row && identityColumns.count > Self.manyColumns }

    /// Returns a query for the rows that are both staged and in the store. It compares them by sorting.
    ///
    /// - Parameter side: `staged` for their staged numbers, `stored` for the row ids of the store.
    func rowsThatAreInBoth(_ side: String) -> String {
        let columns = identityColumns.map(\.sqlIdentifier).joined(separator: ", ")
        let other = side == "staged" ? "stored" : "staged"
        return """
            SELECT \(side) FROM (
                SELECT \(side), max(\(other)) OVER (PARTITION BY \(columns)) AS other FROM (
                    SELECT \(Self.row) AS staged, NULL AS stored, \(columns) FROM \(qualifiedName) UNION ALL
                    SELECT NULL, \(table.rowID ?? "rowid"), \(columns) FROM \(qualifiedTable)))
            WHERE \(side) IS NOT NULL AND other IS NOT NULL
            """
    }

    /// Returns the row's key in the form that the changelog stores: the value of the only key column, or a JSON array of
    /// several.
    func changelogKey(_ alias: String) -> String { changelogKeySQL(identityColumns, alias) }
}

func changelogKeySQL(_ columns: [String], _ alias: String) -> String {
    let values = columns.map { "\(alias).\($0.sqlIdentifier)" }
    guard values.count > 1 else { return values[0] }
    // JSON has no blobs.
    let texts = values.map { "CASE typeof(\($0)) WHEN 'blob' THEN hex(\($0)) ELSE \($0) END" }
    // A function takes 127 arguments (limits.html, "SQLITE_MAX_FUNCTION_ARG").
    let arrays = stride(from: 0, to: texts.count, by: 100).map { start in
        "json_array(\(texts[start..<min(start + 100, texts.count)].joined(separator: ", ")))"
    }
    guard arrays.count > 1 else { return arrays[0] }
    let contents = arrays.map { "substr(\($0), 2, length(\($0)) - 2)" }
    return "'[' || \(contents.joined(separator: " || ',' || ")) || ']'"
}
