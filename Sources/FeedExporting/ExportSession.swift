import FeedConfiguration
import FeedStaging
import GRDB
import XMLStream

/// One running export: the rows that are read, and the text written so far.
final class ExportSession {
    var writer = XMLWriter()
    private let db: Database
    private let request: RequestDeclaration
    private let write: ([UInt8]) throws -> Void
    /// The running statements, by depth: rows within others of their own table need several.
    private var statements: [ExportTable.Inner: [Statement]] = [:]
    private var indexed: [ExportTable.Inner: String] = [:]

    init(db: Database, request: RequestDeclaration, write: @escaping ([UInt8]) throws -> Void) {
        self.db = db
        self.request = request
        self.write = write
    }

    func flush() throws { try write(writer.take()) }

    /// Creates the indexes by which rows within others are found. Call it before any row is read, because SQLite ends
    /// running statements when tables are created.
    func prepare(_ tables: [ExportTable]) throws {
        for table in tables {
            for inner in table.inner { _ = try index(of: inner) }
            try prepare(table.nested)
        }
    }

    func writeRows(of tables: [ExportTable]) throws {
        for table in tables { try writeRows(of: table, depth: 0) }
    }

    /// Writes the content of the root where the root is a record itself.
    func writeDocument(_ table: ExportTable) throws {
        guard let row = try documentRow(of: table) else { return }
        try writeContent(of: table.record, row)
        try writeInner(of: table, row, depth: 0)
    }

    /// Returns the whole root where it is a record whose markup a column holds; else nil.
    func documentMarkup(of table: ExportTable) throws -> [UInt8]? {
        guard let markup = table.record.markup, let row = try documentRow(of: table) else { return nil }
        return try markup.text(row).flatMap { $0.isEmpty ? nil : $0 }
    }

    private func documentRow(of table: ExportTable) throws -> Row? {
        let rows = try Row.fetchCursor(db.makeStatement(sql: sql(table, within: nil)))
        guard let row = try rows.next()?.copy() else { return nil }
        if try rows.next() != nil {
            throw ExportError(
                description:
                    "table '\(table.mapping.table)' has several rows, but its element is the root of the document, "
                    + "which has one; limit the request by a scope, or map an element within the root")
        }
        return row
    }

    /// Writes the root's own values, from any row that has them.
    func writeRoot(_ root: ExportElement) throws {
        let fields = root.fields
        guard !fields.isEmpty else { return }
        var next = 0
        root.numberFields(&next)
        if let row = try Row.fetchOne(db, sql: "SELECT \(fields.map(\.sql).joined(separator: ", "))") {
            try writeContent(of: root, row)
        }
    }

    // MARK: - Rows

    /// - Parameter around: the values by which rows within another are found, and what these are; nil for all rows that are
    ///   in none.
    private func writeRows(
        of table: ExportTable, around: (inner: ExportTable.Inner, key: [DatabaseValue])? = nil, depth: Int
    ) throws {
        let statement = try statement(for: table, within: around?.inner, depth: depth)
        let rows = try Row.fetchCursor(statement, arguments: StatementArguments(around?.key ?? []))
        var open: [[DatabaseValue]] = []
        while let row = try rows.next() {
            let values = Array(row.databaseValues)
            try openWrappers(of: table, row, values, &open)
            if let around, writer.depth + table.height > XMLLimits().depth { throw tooDeep(around.inner, around.key) }
            if writer.bytes.count > 64 << 10 { try flush() }
            try writeRecord(of: table, row, depth: depth)
            if around == nil { writer.markup("\n".utf8) }
        }
        for wrapper in table.wrappers.prefix(open.count).reversed() { writer.end(wrapper.name) }
    }

    private func tooDeep(_ inner: ExportTable.Inner, _ outer: [DatabaseValue]) -> ExportError {
        let key = zip(inner.join, outer).map { "\($0.column) = \($1)" }.joined(separator: ", ")
        return ExportError(
            description:
                "table '\(inner.table.mapping.table)': the rows with \(key) are in so many others that their elements would be "
                + "more than \(XMLLimits().depth) deep, which no document may be; shorten this chain of rows")
    }

    private func writeRecord(of table: ExportTable, _ row: Row, depth: Int) throws {
        let record = table.record
        if let markup = try record.markup?.text(row), !markup.isEmpty { return writer.markup(markup) }
        writer.start(record.name)
        try writeContent(of: record, row)
        try writeInner(of: table, row, depth: depth)
        writer.end(record.name)
    }

    private func writeInner(of table: ExportTable, _ row: Row, depth: Int) throws {
        guard !table.inner.isEmpty else { return }
        let values = Array(row.databaseValues)
        var offset = table.joinOffset
        for inner in table.inner {
            let key = Array(values[offset..<offset + inner.join.count])
            offset += inner.join.count
            if key.allSatisfy({ !$0.isNull }) {
                try writeRows(of: inner.table, around: (inner, key), depth: depth + 1)
            }
        }
    }

    /// Closes the elements around the last record that differ from those around this one, and opens those of this one.
    private func openWrappers(
        of table: ExportTable, _ row: Row, _ values: [DatabaseValue], _ open: inout [[DatabaseValue]]
    ) throws {
        let wanted = table.wrappers.map { wrapper in wrapper.fields.map { values[$0.index] } }
        let same = zip(open, wanted).prefix { $0 == $1 }.count
        for wrapper in table.wrappers.prefix(open.count).dropFirst(same).reversed() { writer.end(wrapper.name) }
        for wrapper in table.wrappers.dropFirst(same) {
            writer.start(wrapper.name)
            try writeContent(of: wrapper, row)
        }
        open = wanted
    }

    /// - Parameter text: the text to write instead of the element's own.
    private func writeContent(of element: ExportElement, _ row: Row, text part: ArraySlice<UInt8>? = nil) throws {
        for (name, value) in element.fixed where !element.attributes.contains(where: { $0.name == name }) {
            writer.attribute(name, value.utf8)
        }
        for (name, field) in element.attributes {
            if let text = try field.text(row) { writer.attribute(name, text) }
        }
        if let part {
            writer.text(part)
        } else if let text = try element.text?.text(row) {
            writer.text(text)
        }
        for child in element.children where try isPresent(child, row) {
            if let markup = child.markup {
                if let text = try markup.text(row) { writer.markup(text) }
                continue
            }
            if let field = child.joined, let text = try field.text(row),
                text.withUnsafeBufferPointer({ trimmed($0).count }) < text.count
            {
                try writeParts(of: text, of: field, in: child, row)
                continue
            }
            writer.start(child.name)
            try writeContent(of: child, row)
            writer.end(child.name)
        }
    }

    /// Writes joined values one by one, because white space at the ends of an element's text is not read.
    private func writeParts(of text: [UInt8], of field: ExportField, in element: ExportElement, _ row: Row) throws {
        let separator = Array(field.column.separator.utf8)
        let parts = separator.isEmpty ? [text[...]] : text.split(separator: separator, omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            writer.start(element.name)
            if index == 0 {
                try writeContent(of: element, row, text: part)
            } else {
                for (name, value) in element.fixed { writer.attribute(name, value.utf8) }
                writer.text(part)
            }
            writer.end(element.name)
        }
    }

    private func isPresent(_ element: ExportElement, _ row: Row) throws -> Bool {
        try element.fields.contains { try $0.text(row) != nil }
    }

    // MARK: - SQL

    private func statement(for table: ExportTable, within inner: ExportTable.Inner?, depth: Int) throws -> Statement {
        guard let inner else { return try db.makeStatement(sql: sql(table, within: nil)) }
        while statements[inner, default: []].count < depth {
            statements[inner, default: []].append(try db.makeStatement(sql: sql(table, within: inner)))
        }
        return statements[inner, default: []][depth - 1]
    }

    private func sql(_ table: ExportTable, within inner: ExportTable.Inner?) throws -> String {
        let name = "store." + table.mapping.table.sqlIdentifier
        var conditions = Self.conditions(for: table.mapping, of: request)
        var source = "\(name) m"
        if let inner {
            if let index = try index(of: inner) {
                source = "\(index) i CROSS JOIN \(name) m ON m.rowid = i.id"
                conditions += inner.join.indices.map { "i.v\($0) = ?" }
            } else {
                conditions += inner.join.map { "m.\($0.column.sqlIdentifier) = ?" }
            }
        }
        if inner?.isSelfJoin != true {
            conditions += table.selfJoin.map { "m.\($0.column.sqlIdentifier) IS NULL" }
        }
        let wrappers = table.wrappers.flatMap(\.fields).map(\.sql)
        let positions = table.mapping.columns.filter(\.isOrdinal).map { "m.\($0.name.sqlIdentifier)" }
        let order = try wrappers + positions + (db.hasRowIDInStore(table.mapping.table) ? ["m.rowid"] : [])
        let selection = table.selection
        return "SELECT \(selection.isEmpty ? "1" : selection.joined(separator: ", ")) FROM \(source)"
            + (conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND "))
            + (order.isEmpty ? "" : " ORDER BY " + order.joined(separator: ", "))
    }

    /// Returns the SQL conditions for the rows of a table, as `m`, that belong to the mapping.
    static func conditions(for table: TableMapping, of request: RequestDeclaration) -> [String] {
        let isThere = request.deletionMark(of: table).map { ["m.\($0.sqlIdentifier) IS NULL"] } ?? []
        let scoped = request.scope.sorted { $0.key < $1.key }.map {
            "m.\($0.key.sqlIdentifier) = \($0.value.sqlLiteral)"
        }
        // Where one table is mapped from several elements, constants separate the rows.
        return isThere + scoped
            + table.columns.compactMap { column in
                guard case .constant(let constant) = column.origin else { return nil }
                return "m.\(column.name.sqlIdentifier) = \(literal(constant))"
            }
    }

    private static func literal(_ constant: Constant) -> String {
        switch constant {
        case .text(let text): "'\(text.replacing("'", with: "''"))'"
        case .integer(let number): String(number)
        case .real(let number): String(number)
        case .boolean(let flag): flag ? "1" : "0"
        }
    }

    /// Returns an index, made for this export, of the columns by which a table's rows are found. Returns nil if the
    /// store has one, or the table has no row ids.
    private func index(of inner: ExportTable.Inner) throws -> String? {
        if let known = indexed[inner] { return known.isEmpty ? nil : known }
        let columns = inner.join.map(\.column)
        let name = inner.table.mapping.table
        let isIndexed = try Bool.fetchOne(
            db,
            sql: """
                SELECT EXISTS (SELECT 1 FROM pragma_index_list(?, 'store') l, pragma_index_info(l.name, 'store') i
                WHERE i.seqno = 0 AND lower(i.name) = lower(?))
                """, arguments: [name, columns[0]])
        guard isIndexed != true, try db.hasRowIDInStore(name) else {
            indexed[inner] = ""
            return nil
        }
        let index = "temp.inner_\(indexed.count)"
        let values = columns.indices.map { "v\($0)" }
        try db.execute(
            sql: """
                CREATE TABLE \(index) (\(values.joined(separator: ", ")), id INTEGER, PRIMARY KEY (\((values + ["id"]).joined(separator: ", ")))) WITHOUT ROWID;
                INSERT INTO \(index) SELECT \(columns.map(\.sqlIdentifier).joined(separator: ", ")), rowid FROM store.\(name.sqlIdentifier)
                WHERE \(columns.map { "\($0.sqlIdentifier) IS NOT NULL" }.joined(separator: " AND "))
                """)
        indexed[inner] = index
        return index
    }
}
