import FeedModel
import FeedStaging
import FeedStores

/// The statement that merges the rows of one table. Its text is the same for all feeds of one shape, so that a connection
/// prepares it once: values are parameters.
extension SmallPart {
    /// The result of the statement, in the order of its columns.
    struct Counts {
        /// Distinct staged rows.
        var rows = 0
        /// Rows that differ, and those of them that have been updated.
        var different = 0
        var updated = 0
        var inserted = 0
        var deleted = 0
        /// Staged rows that are not in the scope.
        var outside = 0
        /// True if the table had no row before.
        var wasEmpty = false

        init(_ row: PostgresRow) throws {
            rows = try row.int(0) ?? 0
            different = try row.int(1) ?? 0
            updated = try row.int(2) ?? 0
            inserted = try row.int(3) ?? 0
            deleted = try row.int(4) ?? 0
            outside = try row.int(5) ?? 0
            wasEmpty = try row.bool(6) ?? true
        }
    }

    /// Returns the statement that writes new and different rows and, for a mirror, deletes rows that are not staged.
    func writing(deletes: Bool) -> PostgresStatement {
        var parameters = self.parameters
        var parts = [given, found]
        var changes: [LoggedChange] = []
        let supplied = table.suppliedScope.map { scoped in
            parameters.append(.text(scoped.value))
            return "s.\(sql(scoped.column)) IS DISTINCT FROM $\(parameters.count)"
        }
        if deletes {
            parts.append("deleted AS (\(deletion(&parameters)))")
            changes.append(LoggedChange("delete", from: "deleted", order: "row_number() OVER ()"))
        }
        if let update {
            parts.append("updated AS (\(update))")
            changes.append(LoggedChange("update", from: "updated", order: "row"))
        }
        parts.append("inserted AS (\(insertion))")
        changes.append(LoggedChange("insert", from: "inserted", order: "row_number() OVER ()"))
        parts.append("changelog AS (\(LoggedChange.insertion(of: changes, table: details.name)))")
        let known = "(SELECT count(*) FROM found WHERE NOT tributary_new)"
        return PostgresStatement(
            """
            WITH \(parts.joined(separator: ",\n"))
            SELECT (SELECT count(*) FROM given),
                (SELECT count(*) FROM found s WHERE NOT s.tributary_new AND s.tributary_differs),
                \(update == nil ? "0" : "(SELECT count(*) FROM updated)"), (SELECT count(*) FROM inserted),
                \(deletes ? "(SELECT count(*) FROM deleted)" : "0"),
                \(supplied.isEmpty ? "0" : "(SELECT count(*) FROM given s WHERE \(supplied.joinedConditions("OR")))"),
                CASE WHEN \(known) > 0 THEN false ELSE NOT EXISTS (SELECT FROM \(details.sql)) END
            """, parameters, isPrepared: true)
    }

    /// The parameters: an array of the rows' numbers, one of each column's values, and the constants.
    private var parameters: [PostgresValue?] {
        rows.arrays.map { .array($0) } + constants.map { .text($0.value) }
    }

    private func sql(_ column: String) -> String { details.column(column)?.sql ?? column.sqlIdentifier }

    /// The staged rows; the last of several with one key.
    private var given: String {
        let names = columns.indices.map { "c\($0)" }
        let arrays = ["$1::bigint[]"] + columns.enumerated().map { "$\($0 + 2)::\($1.elementType)[]" }
        let values =
            columns.enumerated().map { "\($1.stored("v.c\($0)")) AS \($1.column.sql)" }
            + constants.enumerated().map { index, constant in
                let parameter = "$\(columns.count + 2 + index)::\(constant.column.elementType)"
                return "\(constant.column.stored(parameter)) AS \(constant.column.column.sql)"
            }
        let key = table.keyColumns.map { "s.\(sql($0))" }.joined(separator: ", ")
        return """
            given AS MATERIALIZED (
                SELECT DISTINCT ON (\(key)) * FROM (
                    SELECT v.row AS \(StagingTable.row), \(values.joined(separator: ", "))
                    FROM unnest(\(arrays.joined(separator: ", "))) AS v (row, \(names.joined(separator: ", ")))) s
                ORDER BY \(key), s.\(StagingTable.row) DESC)
            """
    }

    /// The staged rows joined with the stored ones.
    private var found: String {
        """
        found AS MATERIALIZED (
            SELECT s.*, m.tableoid IS NULL AS tributary_new, \(differs ?? "false") AS tributary_differs
            FROM given s LEFT JOIN \(details.sql) m ON \(table.matches("m", "s")))
        """
    }

    /// A condition that a stored row, `m`, differs from the staged one, `s`; nil if it cannot.
    private var differs: String? {
        let columns = updatedColumns.compactMap { details.column($0) }
        guard !columns.isEmpty else { return nil }
        let dialect = PostgresDialect()
        let differs = columns.map { dialect.differs($0, "s.\($0.sql)", from: "m.\($0.sql)", exactly: false) }
        return "(\(differs.joinedConditions("OR")))"
    }

    /// Rows that another commit has changed meanwhile are looked at again: no row leaves a scope unnoticed.
    private var update: String? {
        guard let differs else { return nil }
        let assignments = updatedColumns.map { "\(sql($0)) = s.\(sql($0))" }.joined(separator: ", ")
        let stays = scopeColumns.intersection(writtenColumns).sorted().map {
            "AND m.\(sql($0)) IS NOT DISTINCT FROM s.\(sql($0))"
        }.joined(separator: " ")
        return """
            UPDATE \(details.sql) AS m SET \(assignments) FROM found s
            WHERE NOT s.tributary_new AND s.tributary_differs AND \(table.matches("m", "s")) AND \(differs) \(stays)
            RETURNING \(details.changelogKey(table.keyColumns, "m")) AS key, s.\(StagingTable.row) AS row
            """
    }

    private var insertion: String {
        let names = table.allColumns.map { sql($0.name) }
        return """
            INSERT INTO \(details.sql) AS m (\(names.joined(separator: ", ")))
            SELECT \(names.map { "s." + $0 }.joined(separator: ", ")) FROM found s
            WHERE s.tributary_new ORDER BY s.\(StagingTable.row)
            RETURNING \(details.changelogKey(table.keyColumns, "m")) AS key
            """
    }

    /// Deletes the rows of the scope that are not staged.
    private func deletion(_ parameters: inout [PostgresValue?]) -> String {
        var conditions = table.scope.sorted { $0.key < $1.key }.map { entry in
            parameters.append(.text(entry.value))
            return "m.\(sql(entry.key)) = $\(parameters.count)"
        }
        conditions.append("NOT EXISTS (SELECT FROM given s WHERE \(table.matches("m", "s")))")
        return """
            DELETE FROM \(details.sql) m\(conditions.whereClause)
            RETURNING \(details.changelogKey(table.keyColumns, "m")) AS key
            """
    }
}

/// A part of a statement that returns the `key` of each row that it changes, for the changelog.
struct LoggedChange {
    private let operation: String
    private let source: String
    private let order: String

    /// - Parameters:
    ///   - source: the name of the part.
    ///   - order: an expression for the order of its rows.
    init(_ operation: String, from source: String, order: String) {
        self.operation = operation
        self.source = source
        self.order = order
    }

    /// Returns a statement that enters changes into the changelog one after another, for the run whose number this session has drawn.
    static func insertion(of changes: [LoggedChange], table: String) -> String {
        let rows = changes.enumerated().map { index, change in
            """
            SELECT \(index) AS step, \(change.order) AS place, key, \(change.operation.postgresLiteral) AS operation
            FROM \(change.source)
            """
        }.joined(separator: " UNION ALL ")
        return """
            INSERT INTO tributary_change (run, "table", key, operation)
            SELECT (SELECT currval(pg_get_serial_sequence('tributary_run', 'id'))), \(table.postgresLiteral), c.key, c.operation
            FROM (\(rows)) c ORDER BY c.step, c.place
            """
    }
}
