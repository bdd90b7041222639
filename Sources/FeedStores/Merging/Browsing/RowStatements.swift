import FeedModel
import FeedStaging

/// The statements of a query for rows of a table, `m`.
///
/// A page starts after the last row of the page before, not at a number. So the last page of a million rows costs as
/// much as the first, if an index has the order. Names are quoted, values are bound.
struct RowStatements {
    let table: StoredTable
    /// The identity of a row: SQL names within the row.
    let key: [String]
    /// The columns of the identity; nil for a part that is none.
    private let keyColumns: [StoredTable.Column?]
    let columns: [StoredTable.Column]
    private let dialect: any SQLDialect

    init(_ table: StoredTable, _ dialect: any SQLDialect) {
        self.table = table
        self.dialect = dialect
        key = table.browsedKey.map(\.sql)
        keyColumns = table.browsedKey.map { $0.column.flatMap(table.column) }
        columns = table.columns
    }

    /// Returns the statements whose rows, one after another, are those of a query: first those with a value in the
    /// column by which they are sorted, then those without.
    ///
    /// - Parameter shape: the table as the query knows it.
    /// - Throws: ``RowQuery/Problem``.
    func statements(_ query: RowQuery, _ shape: BrowsedTable) throws -> [SQLText] {
        var conditions = try query.filters.map { try condition($0, query, shape) }
        if let after = query.after, after.key.count != key.count || (after.sorted == nil) != (query.order == nil) {
            throw RowQuery.Problem("'after' is no row of this order of table '\(shape.name)'; begin without it")
        }
        guard let order = query.order else {
            if let after = query.after { conditions.append(isAfter(after.key)) }
            return [statement(conditions, order: aliased(key))]
        }
        let sorted = "m.\(try column(order.column, shape).sql)"
        let direction = order.isDescending ? " DESC" : ""
        let hasNone: SQLText = "\(sorted) IS NULL"
        let without = { (after: [SQLText]) in statement(conditions + [hasNone] + after, order: aliased(key)) }
        guard let after = query.after, let value = after.sorted else {
            return [
                statement(conditions + ["\(sorted) IS NOT NULL"], order: [sorted + direction] + aliased(key)),
                without([]),
            ]
        }
        if value == .null { return [without([isAfter(after.key)])] }
        let last = dialect.bound(value, for: try column(order.column, shape))
        let isBehind: SQLText =
            order.isDescending
            ? "\(sorted) <= \(bind: last) AND (\(sorted) < \(bind: last) OR \(isAfter(after.key)))"
            : "\(sorted) >= \(bind: last) AND (\(sorted) > \(bind: last) OR \(isAfter(after.key)))"
        return [statement(conditions + [isBehind], order: [sorted + direction] + aliased(key)), without([])]
    }

    /// Returns the statement for the values of a column in rows of a query, with their numbers and that of all counted rows.
    /// The query's limit bounds the rows: in a table of millions, some are counted.
    ///
    /// - Throws: ``RowQuery/Problem``.
    func statement(valuesOf name: String, _ query: RowQuery, _ shape: BrowsedTable, most: Int) throws -> SQLText {
        let value = "m.\(try column(name, shape).sql)"
        let conditions = try query.filters.map { try condition($0, query, shape) }
        return """
            SELECT value, count(*), CAST(sum(count(*)) OVER () AS BIGINT)
            FROM (SELECT \(value) AS value FROM \(table.sql) m\(conditions.whereClause) LIMIT \(bind: query.limit)) AS counted
            GROUP BY value ORDER BY count(*) DESC, value LIMIT \(bind: most)
            """
    }

    /// Returns the statement for the number of a query's rows, up to its limit.
    ///
    /// - Throws: ``RowQuery/Problem``.
    func statement(countOf query: RowQuery, _ shape: BrowsedTable) throws -> SQLText {
        let conditions = try query.filters.map { try condition($0, query, shape) }
        return """
            SELECT count(*) FROM (SELECT 1 FROM \(table.sql) m\(conditions.whereClause) LIMIT \(bind: query.limit)) AS counted
            """
    }

    /// Returns the statement for the row of a key.
    ///
    /// - Throws: ``RowQuery/Problem``.
    func statement(of key: [StoredValue]) throws -> SQLText { statement([try isRow(key)], order: []) }

    /// Returns a condition that a row is the one of a key.
    ///
    /// - Throws: ``RowQuery/Problem``.
    func isRow(_ values: [StoredValue], _ alias: String = "m") throws -> SQLText {
        guard values.count == key.count else {
            throw RowQuery.Problem("a key of table '\(table.name)' has \(key.count) values, not \(values.count)")
        }
        return zip(key, bound(values)).map { "\(alias).\($0) = \(bind: $1)" as SQLText }.joined(separator: " AND ")
    }

    private func bound(_ values: [StoredValue]) -> [SQLText.Value] {
        values.enumerated().map { index, value in
            dialect.bound(value, for: index < keyColumns.count ? keyColumns[index] : nil)
        }
    }

    private func aliased(_ names: [String]) -> [String] { names.map { "m." + $0 } }

    private func statement(_ conditions: [SQLText], order: [String]) -> SQLText {
        let selected = aliased(columns.map(\.sql) + key).joined(separator: ", ")
        let sorting = order.isEmpty ? "" : " ORDER BY " + order.joined(separator: ", ")
        return "SELECT \(selected) FROM \(table.sql) m\(conditions.whereClause)\(sorting)"
    }

    /// Returns a condition that a row comes after another in the order of the keys.
    private func isAfter(_ values: [StoredValue]) -> SQLText {
        let names = aliased(key).joined(separator: ", ")
        return "(\(names)) > (\(SQLText(binding: bound(values))))"
    }

    private func column(_ name: String, _ shape: BrowsedTable) throws -> StoredTable.Column {
        guard let place = shape.position(of: name) else { throw RowQuery.Problem.noColumn(name, of: shape) }
        return columns[place]
    }

    private func condition(_ filter: RowQuery.Filter, _ query: RowQuery, _ shape: BrowsedTable) throws -> SQLText {
        let column = try column(filter.column, shape)
        let isDecimal = column.hasNoType && query.decimals.contains(column.name.lowercased())
        let value = "m.\(column.sql)"
        if [.less, .greater].contains(filter.comparison), column.holdsNumbers || isDecimal,
            !Self.isNumber(filter.value)
        {
            throw RowQuery.Problem(
                "'\(filter.value.prefix(100))' is not a number, and column '\(column.name)' of table '\(shape.name)' has numbers "
                    + "(\(isDecimal ? "decimal" : column.type)); compare it with a number such as 10.5")
        }
        let number = column.number(filter.value)
        let compared = number ?? .text(filter.value)
        return switch filter.comparison {
        case .equal where number != nil: "\(value) IN (\(bind: compared), \(bind: filter.value))"
        case .equal: "\(value) = \(bind: compared)"
        case .less: "\(value) < \(bind: compared)"
        case .greater: "\(value) > \(bind: compared)"
        case .contains: dialect.contains(value, filter.value)
        case .null: "\(value) IS NULL"
        }
    }

    private static func isNumber(_ text: String) -> Bool {
        switch ComparedValue(number: text) {
        case .integer, .real: true
        case .text, .blob, nil: Double(text) != nil
        }
    }
}

extension StoredTable.Column {
    /// True for the usual types of numbers, of either store.
    fileprivate var holdsNumbers: Bool {
        let name = type.lowercased().prefix { $0.isLetter || $0.isNumber }
        return [
            "integer", "int", "int2", "int4", "int8", "tinyint", "smallint", "mediumint", "bigint", "real", "double",
            "float",
            "float4", "float8", "numeric", "decimal",
        ].contains(name)
    }

    /// True for a column of SQLite that keeps each value as it comes.
    fileprivate var hasNoType: Bool { ["", "ANY"].contains(type.uppercased()) }

    /// Returns the number of a text with which a condition compares the column; nil if the column converts the text
    /// itself, as all do but SQLite's without a type.
    fileprivate func number(_ text: String) -> SQLText.Value? {
        guard hasNoType else { return nil }
        return switch ComparedValue(number: text) {
        case .integer(let integer): .integer(integer)
        case .real(let real): .real(real)
        case .text, .blob, nil: nil
        }
    }
}

extension StoredTable {
    /// The identity of a row for viewers: the lasting key, in the order of its index, or else the row's locator.
    var browsedKey: [StoredTable.Locator] {
        let columns = lastingKey
        let located = locator.compactMap(\.column)
        if columns.isEmpty || located.count == locator.count && Set(located) == Set(columns) { return locator }
        return columns.map { StoredTable.Locator(sql: $0.sqlIdentifier, definition: "", column: $0) }
    }
}
