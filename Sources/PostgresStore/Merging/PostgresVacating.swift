import FeedModel
import FeedStaging
import FeedStores
import Foundation
import Merging
import PostgresClient
import StoreSQL

/// Values that rows have for a moment, while others take their own.
extension PostgresMergeDriver {
    func mayConflict(_ table: StagingTable, _ stored: any StoredTable) throws -> Bool {
        let own = table.keyColumns.isEmpty ? 0 : 1
        let isFollowed = stored.details.referringKeys.contains { $0.onUpdate.changesChildren }
        // Equal keys have been found by the comparison already.
        return stored.details.uniquenesses.count > own || isFollowed
    }

    func uniqueColumns(of table: any StoredTable) throws -> Set<String> { table.details.uniqueColumns }

    func vacate(
        _ columns: [any StoredColumn], of table: any StoredTable, _ rows: Vacating, asNull: Bool,
        in merge: MergeContext
    ) throws -> Bool {
        let list = try merge.makeList("vacated", of: table, .update)
        do {
            return try connection.inSavepoint { try vacate(columns, rows, list, asNull: asNull) }
        } catch let error as PostgresError where error.isAboutRows {
            // Another value might do: one that the foreign keys, the checks and the type accept.
            return false
        }
    }

    private func vacate(
        _ columns: [any StoredColumn], _ rows: Vacating, _ list: RowList, asNull: Bool
    ) throws -> Bool {
        let (source, order) = rows.rows(changing: columns, dialect)
        let count = try execute(
            dialect.append(to: list, list.located, list.table.locators("m"), from: SQLText(source), order: order))
        guard count > 0 else { return false }
        var values: [(column: String, value: SQLText)] = []
        for column in columns {
            let value = try (column as? ColumnDetails).flatMap {
                try vacantValue(of: $0, list.table.details, count: Int64(count), asNull: asNull)
            }
            guard let value else { return false }
            values.append((column.sql, SQLText(value)))
        }
        try connection.execute("ANALYZE \(list.name) (id)")
        try execute(dialect.update(list, values, joined: "", isConstant: false))
        return true
    }

    /// Returns an expression for a value that a column accepts and no row has; nil where there is none.
    ///
    /// - Parameter count: the most that the rows' numbers, `g.id`, can be.
    private func vacantValue(
        of column: ColumnDetails, _ table: TableDetails, count: Int64, asNull: Bool
    ) throws -> String? {
        let isFollowed = table.referringKeys.contains { reference in
            reference.onUpdate.changesChildren && reference.targets.contains(column.name)
        }
        // Children that follow the row must still find it.
        if asNull, !column.isNotNull, !isFollowed { return "NULL" }
        if let range = column.vacantNumbers {
            return try freeNumber(in: range, for: column, of: table, count: count).map { "(\($0) + g.id)" }
        }
        return column.vacantValue(UUID().uuidString)
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
