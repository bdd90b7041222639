import FeedModel
import FeedStaging
import FeedStores
import Foundation
import PostgresClient

/// Unique values that pass from row to row: swapped, shifted, or held by a row that is about to be deleted.
///
/// PostgreSQL checks each row as it writes it, not the result of the whole statement, unless the constraint is
/// DEFERRABLE. If a statement fails for that reason, it is undone, the rows in its way step aside, and it is run again.
/// For a moment they get values that no other row has, in the columns that are unique. First to step aside are the rows
/// whose deletion was postponed, then the rows to be updated whose unique columns change. If neither helps, the
/// postponed deletions are carried out at once.
///
/// Foreign keys follow these rows as usual, including children with ON UPDATE CASCADE. Triggers see two updates of such
/// a row. Where nothing can be in the way, none of this costs anything.
extension Merge {
    private enum Remedy: CaseIterable {
        case parkPostponed
        /// NULL conflicts with no value, and suits every type.
        case parkAsNull
        case parkAsToken
        case deletePostponed
    }

    /// - Parameters:
    ///   - remaining: the rows of the table that are yet to be updated.
    ///   - write: runs one statement.
    func makingRoom<Value>(
        in table: StagingTable, for remaining: ArraySlice<Difference> = [], _ write: () throws -> Value
    ) throws -> Value {
        let details = try details(of: table.table.name)
        let own = table.keyColumns.isEmpty ? 0 : 1
        let isFollowed = details.referringKeys.contains { $0.onUpdate.changesChildren }
        // Equal keys have been found by the comparison already.
        guard details.uniquenesses.count > own || isFollowed else { return try write() }
        do {
            return try connection.inSavepoint(write)
        } catch let error as PostgresError where error.breaksUniqueness {
            for remedy in Remedy.allCases where try apply(remedy, to: details, remaining) {
                do {
                    return try connection.inSavepoint(write)
                } catch let error as PostgresError where error.breaksUniqueness {
                    continue
                }
            }
            guard let hint = retention.hint(on: table.table) else { throw error }
            throw StoreError(refused: error, in: table.table.name, hint: hint)
        }
    }

    /// - Returns: true if anything has changed.
    private func apply(_ remedy: Remedy, to table: TableDetails, _ remaining: ArraySlice<Difference>) throws -> Bool {
        switch remedy {
        case .parkPostponed: try parkPostponedRows(of: table)
        case .deletePostponed: try deletePostponedRows(of: table.name)
        case .parkAsNull: try park(remaining, of: table, asNull: true)
        case .parkAsToken: try park(remaining, of: table, asNull: false)
        }
    }

    /// Gives rows that are to be deleted values that no other row has, except in the columns by which others refer to
    /// them.
    private func parkPostponedRows(of table: TableDetails) throws -> Bool {
        // A row that is located by its place would not be found again.
        // Nor do rows that are to be marked as gone lose their values.
        guard let postponed = progress.postponed[table.name], !table.isLocatedByPlace, try goneColumn(of: table) == nil
        else { return false }
        let referred = table.referringKeys.flatMap(\.targets)
        let kept = Set((referred + table.primaryKey).map { $0.lowercased() })
        let unique = table.uniqueColumns.subtracting(kept)
        let columns = table.columns.filter { unique.contains($0.name.lowercased()) && !$0.isGenerated }
        guard !columns.isEmpty else { return false }
        return try parking(table) { parked in
            let located = parked.located.joined(separator: ", ")
            let count = try connection.execute(
                "INSERT INTO \(parked.name) (\(located)) SELECT \(located) FROM \(postponed.name) ORDER BY id"
            ).affectedRows
            return try move(parked, columns, count: count, asNull: true)
        }
    }

    /// Gives rows that are to be updated values that no other row has, if their unique columns change.
    private func park(_ differences: ArraySlice<Difference>, of table: TableDetails, asNull: Bool) throws -> Bool {
        guard let first = differences.first else { return false }
        let unique = table.uniqueColumns
        // Parts of one table may write different columns.
        return try differences.filter { $0.updated > 0 }.reduce(false) { hasParked, difference in
            let columns = try difference.table.valueColumns.filter { unique.contains($0.lowercased()) }
                .map(table.needed)
            guard !columns.isEmpty, first.table.table.name == difference.table.table.name else { return hasParked }
            let isParked = try parking(table) { parked in
                let differs = columns.map { $0.differs("s", from: "m") }.joined(separator: " OR ")
                let count = try connection.execute(
                    """
                    INSERT INTO \(parked.name) (\(parked.located.joined(separator: ", ")))
                    SELECT \(table.locator.map { "m." + $0.sql }.joined(separator: ", "))
                    FROM \(difference.storedRows) WHERE NOT d.is_new AND (\(differs)) ORDER BY d.id
                    """
                ).affectedRows
                return try count > 0 && move(parked, columns, count: count, asNull: asNull)
            }
            return isParked || hasParked
        }
    }

    /// - Parameter body: fills the table of the rows that step aside, moves them, and returns true if there were any.
    private func parking(_ table: TableDetails, _ body: (ChangedRows) throws -> Bool) throws -> Bool {
        let parked = ChangedRows(
            table: table, change: .update,
            name: try workTable("parked_\(progress.number())", ChangedRows.definition(table, isUnique: true)))
        do {
            return try connection.inSavepoint { try body(parked) }
        } catch let error as PostgresError where error.isAboutRows {
            // Another value might do: one that the foreign keys, the checks and the type accept.
            return false
        }
    }

    /// Gives the rows their temporary values.
    ///
    /// - Returns: false where there are no such values.
    private func move(_ parked: ChangedRows, _ columns: [ColumnDetails], count: Int, asNull: Bool) throws -> Bool {
        var assignments: [String] = []
        for column in columns {
            guard let value = try parkedValue(of: column, parked.table, count: Int64(count), asNull: asNull)
            else { return false }
            assignments.append("\(column.sql) = \(value)")
        }
        try connection.execute("ANALYZE \(parked.name) (id)")
        try connection.execute(
            """
            UPDATE \(parked.table.sql) AS m SET \(assignments.joined(separator: ", ")) FROM \(parked.name) p
            WHERE \(parked.isRow("m", "p"))
            """)
        return true
    }

    /// Returns an expression for a value that a column accepts and no row has; nil where there is none.
    ///
    /// - Parameter count: the most that the rows' numbers, `p.id`, can be.
    private func parkedValue(
        of column: ColumnDetails, _ table: TableDetails, count: Int64, asNull: Bool
    ) throws -> String? {
        let isFollowed = table.referringKeys.contains { reference in
            reference.onUpdate.changesChildren && reference.targets.contains(column.name)
        }
        // Children that follow the row must still find it.
        if asNull, !column.isNotNull, !isFollowed { return "NULL" }
        if let range = column.parkingRange {
            return try freeNumber(in: range, for: column, of: table, count: count).map { "(\($0) + p.id)" }
        }
        return column.parkedToken(UUID().uuidString)
    }

    /// Returns the first of `count` numbers that a column does not have and will not get; nil where none was found.
    private func freeNumber(
        in range: ClosedRange<Int64>, for column: ColumnDetails, of table: TableDetails, count: Int64
    ) throws -> Int64? {
        guard range.upperBound - count > range.lowerBound else { return nil }
        let staged = stack.parts.filter {
            $0.table.table.name == table.name && $0.counts.rows > 0 && $0.table.supplies(column.name)
        }
        let tables = [table.sql] + staged.map(\.table.staged)
        for _ in 0..<64 {
            let first = Int64.random(in: range.lowerBound...range.upperBound - count)
            let isTaken = tables.map {
                "EXISTS (SELECT 1 FROM \($0) WHERE \(column.sql) BETWEEN \(first) AND \(first + count))"
            }
            let row = try connection.execute("SELECT \(isTaken.joined(separator: " OR "))")[0]
            if try row.bool(0) == false { return first }
        }
        return nil
    }
}
