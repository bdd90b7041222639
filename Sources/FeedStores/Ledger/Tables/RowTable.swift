/// A table whose rows are values of a type. Each column knows the property that it holds.
package struct RowTable<Row: Sendable>: Sendable {
    package let table: OwnTable
    private let blank: Row
    private let fields: [RowField<Row>]
    private let alias: String?
    /// Reads all columns that have a property.
    package let reader: RowReader<Row>
    private let sqlite: Insertion
    private let postgres: Insertion

    /// - Parameters:
    ///   - blank: a row without values. A NULL, or a value that its property cannot have, leaves the property as it is
    ///     there.
    ///   - alias: the name of the table in queries; nil if queries name columns alone.
    init(
        _ name: String, _ text: String, key: [String], blank: Row, as alias: String? = nil,
        in scope: TableScope = .everywhere, moves: Bool = false, indexes: [OwnIndex] = [],
        @ListBuilder<RowField<Row>> fields: (RowFields<Row>) -> [RowField<Row>]
    ) {
        let fields = fields(RowFields())
        table = OwnTable(name, text, key: key, in: scope, moves: moves, indexes: indexes) {
            for field in fields { field.column }
        }
        self.blank = blank
        self.fields = fields
        self.alias = alias
        reader = RowReader(fields, blank, alias)
        sqlite = Insertion(table, fields, alias, .sqlite)
        postgres = Insertion(table, fields, alias, .postgres)
    }

    /// Returns a reader of all columns but some.
    func reader(without names: Set<String>) -> RowReader<Row> {
        RowReader(fields.filter { !names.contains($0.column.name) }, blank, alias)
    }

    /// Returns an INSERT of rows.
    ///
    /// - Parameter others: further columns, with the expressions of their values.
    package func insertion(
        of rows: some Sequence<Row>, _ dialect: TableDialect, _ others: KeyValuePairs<String, SQLText> = [:]
    ) throws -> SQLText {
        let insertion = dialect == .sqlite ? sqlite : postgres
        let values = try rows.map { row in
            let own = SQLText(binding: try insertion.fields.map { try $0(row) })
            return "(\(([own] + others.map(\.value)).joined(separator: ", ")))" as SQLText
        }
        let names = others.map { ", " + $0.key }.joined()
        return "\(insertion.start)\(names)) VALUES \(values.joined(separator: ", "))"
    }

    /// Returns an INSERT of rows that replaces existing rows of the same keys.
    package func upsert(
        of rows: some Sequence<Row>, _ dialect: TableDialect, _ others: KeyValuePairs<String, SQLText> = [:]
    ) throws -> SQLText {
        let insertion = dialect == .sqlite ? sqlite : postgres
        let assignments = others.map { ", \($0.key) = excluded.\($0.key)" }.joined()
        return try "\(self.insertion(of: rows, dialect, others))\(insertion.end)\(assignments)"
    }

    /// The parts of an INSERT, around the values.
    private struct Insertion: Sendable {
        var start: String
        var end: String
        var fields: [@Sendable (Row) throws -> SQLText.Value] = []

        init(_ table: OwnTable, _ all: [RowField<Row>], _ alias: String?, _ dialect: TableDialect) {
            let written = all.filter { $0.value != nil && dialect.has($0.column.scope) }
            let names = written.map(\.column.sql)
            fields = written.compactMap(\.value)
            start =
                "INSERT INTO \(dialect.table(table.name))\(alias.map { " AS " + $0 } ?? "") (\(names.joined(separator: ", "))"
            let assigned = written.map(\.column).filter { !table.key.contains($0.name) }.map {
                "\($0.sql) = excluded.\($0.sql)"
            }
            end =
                " ON CONFLICT (\(table.columns.names(table.key))) DO UPDATE SET \(assigned.joined(separator: ", "))"
        }
    }
}

/// A column, and the property of a row that it holds.
struct RowField<Row: Sendable>: Sendable {
    let column: OwnColumn
    /// Returns the value to be written; nil for a column that rows are not written to.
    var value: (@Sendable (Row) throws -> SQLText.Value)?
    /// Reads a column of a result into a row; nil for a column that is not read.
    var read: (@Sendable (inout Row, any SQLRow, Int) throws -> Void)?
}

/// The kinds of columns that a table of rows has.
struct RowFields<Row: Sendable> {
    /// A column of a property.
    ///
    /// - Parameters:
    ///   - isWritten: false if other statements write the column.
    ///   - isCleaned: true for a text from a server: U+0000 is replaced, which PostgreSQL cannot store.
    func column<Value: ColumnValue>(
        _ name: String, _ path: any WritableKeyPath<Row, Value> & Sendable, _ text: String? = nil,
        isNullable: Bool = Value.isNullable, initially: OwnColumn.Initial? = nil, in scope: TableScope = .everywhere,
        moves: Bool = true, isWritten: Bool = true, isCleaned: Bool = false
    ) -> RowField<Row> {
        var field = RowField<Row>(
            column: OwnColumn(
                name, Value.columnType, text, isNullable: isNullable, initially: initially, in: scope, moves: moves))
        field.read = { row, result, index in
            if let value = try Value.read(result, index) { row[keyPath: path] = value }
        }
        if isWritten {
            field.value = { row in
                let value = try row[keyPath: path].bound
                if isCleaned, case .text(let text) = value { return .text(text.storable) }
                return value
            }
        }
        return field
    }

    /// A column that only other statements read and write.
    func other(
        _ name: String, _ type: ColumnType, _ text: String? = nil, isNullable: Bool = false,
        initially: OwnColumn.Initial? = nil, in scope: TableScope = .everywhere
    ) -> RowField<Row> {
        RowField(column: OwnColumn(name, type, text, isNullable: isNullable, initially: initially, in: scope))
    }
}

/// Columns of a table in the order in which a query selects them, and the way from its result to a row.
package struct RowReader<Row: Sendable>: Sendable {
    private struct Selection {
        var columns: String
        var fields: [@Sendable (inout Row, any SQLRow, Int) throws -> Void]
    }

    private let blank: Row
    private let sqlite: Selection
    private let postgres: Selection

    init(_ fields: [RowField<Row>], _ blank: Row, _ alias: String?) {
        self.blank = blank
        func selection(_ dialect: TableDialect) -> Selection {
            let read = fields.filter { $0.read != nil && dialect.has($0.column.scope) }
            let columns = read.map(\.column).map { column in
                let name = (alias.map { $0 + "." } ?? "") + column.sql
                return column.type == .time ? dialect.date(name) : name
            }
            return Selection(columns: columns.joined(separator: ", "), fields: read.compactMap(\.read))
        }
        sqlite = selection(.sqlite)
        postgres = selection(.postgres)
    }

    private func selection(_ dialect: TableDialect) -> Selection { dialect == .sqlite ? sqlite : postgres }

    /// Returns the columns of a SELECT.
    package func columns(_ dialect: TableDialect) -> String { selection(dialect).columns }

    /// Returns the number of columns.
    package func count(_ dialect: TableDialect) -> Int { selection(dialect).fields.count }

    /// Reads the columns by their position: by name, reading takes longer than the query.
    ///
    /// - Parameter first: the position of the first column.
    package func row(_ result: any SQLRow, _ dialect: TableDialect, from first: Int = 0) throws -> Row {
        var row = blank
        var index = first
        for read in selection(dialect).fields {
            try read(&row, result, index)
            index += 1
        }
        return row
    }
}
