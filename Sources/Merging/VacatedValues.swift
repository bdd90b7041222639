import FeedModel
import FeedStaging
import Foundation
import StoreSQL

/// Values that rows have for a moment, while others take their own.
struct VacatedValues {
    let merge: MergeContext
    private var driver: any MergeDriver { merge.driver }
    private var dialect: any SQLDialect { merge.dialect }

    /// Gives rows values that no other row has, in some of their columns.
    ///
    /// - Parameter asNull: true to write NULL if the column allows it.
    /// - Returns: false without rows, or if the columns accept no such values.
    func give(_ columns: [any StoredColumn], of table: any StoredTable, _ rows: Vacating, asNull: Bool) throws -> Bool {
        let list = try merge.makeList("vacated", of: table, .update)
        return try driver.vacating {
            let (source, order) = rows.rows(changing: columns, dialect)
            let count = try driver.execute(
                dialect.append(to: list, list.located, table.locators("m"), from: SQLText(source), order: order))
            guard count > 0 else { return false }
            var values: [(column: String, value: SQLText)] = []
            for column in columns {
                guard let value = try value(of: column, table, count: Int64(count), asNull: asNull) else {
                    return false
                }
                values.append((column.sql, SQLText(value)))
            }
            try driver.analyze("\(list.name) (id)")
            try driver.execute(dialect.update(list, values, joined: "", isConstant: false).once)
            try driver.noteVacated(rows, list, values)
            return true
        }
    }

    /// Returns an expression for a value that a column accepts and no row has; nil without one.
    ///
    /// - Parameter count: the maximum of the rows' numbers, `g.id`.
    private func value(of column: any StoredColumn, _ table: any StoredTable, count: Int64, asNull: Bool) throws
        -> String?
    {
        let name = column.name.lowercased()
        let isRowID = table.rowID != nil && table.locator.contains { $0.column?.lowercased() == name }
        let isFollowed = table.children.contains { key in
            key.onUpdate.changesChildren && key.targets.contains { $0.lowercased() == name }
        }
        // Children that follow the row must still find it.
        if asNull, !column.isNotNull, !isRowID, !isFollowed { return "NULL" }
        return switch column.vacancy(in: table, token: UUID().uuidString) {
        case .value(let value): value
        case .number(let range): try freeNumber(in: range, for: column, table, count: count).map { "(\($0) + g.id)" }
        case nil: nil
        }
    }

    /// Returns the first of `count` numbers that a column does not have and will not get; nil if none was found.
    private func freeNumber(
        in range: ClosedRange<Int64>, for column: any StoredColumn, _ table: any StoredTable, count: Int64
    ) throws -> Int64? {
        guard range.upperBound - count > range.lowerBound else { return nil }
        let staged = merge.stack.parts.filter {
            $0.table.table.name == table.name && $0.counts.rows > 0 && $0.table.supplies(column.name)
        }
        let tables = [table.sql] + staged.map { dialect.staged($0.table) }
        for _ in 0..<64 {
            let first = Int64.random(in: range.lowerBound...range.upperBound - count)
            let isTaken = try tables.contains { table in
                try driver.isTrue(
                    """
                    SELECT EXISTS (
                        SELECT 1 FROM \(table) WHERE \(column.sql) BETWEEN \(bind: first) AND \(bind: first + count))
                    """)
            }
            if !isTaken { return first }
        }
        return nil
    }
}

/// Values of a column that no row has.
package enum Vacancy {
    /// A whole number of a range.
    case number(ClosedRange<Int64>)
    /// An expression for a value of the listed row, `g`, that differs from all others.
    case value(String)
}
