import FeedConfiguration
import FeedStaging
import GRDB
import XMLStream

/// A check that importing an export gives the exported rows, table by table. A row is identified by a number computed
/// from its values. Where the store generated the key of the row that it belongs to, that row's number is used instead
/// of the key.
///
/// The check uses sets in temporary tables, so its cost grows with the number of rows as that of sorting does.
struct ExportComparison {
    let db: Database
    /// The mapping, with named columns where it matches columns by name.
    let mapping: RequestMapping
    let request: RequestDeclaration
    /// The tables by their names in lower case.
    var tables: [String: Table] = [:]
    /// The names of those whose rows have numbers.
    var numbered: Set<String> = []

    /// One table of the store, with all the mapping's tables that write it.
    struct Table {
        var name: String
        var mappings: [TableMapping]
        /// The columns that come back: without facts of a response, and those left out of exports.
        var columns: [ColumnMapping]
        var primaryKey: [String]
        /// The name of the row id; nil for a table without row ids.
        var rowID: String?
        var number: Int

        /// True if the store generates the rows' key, which differs in another store.
        var isKeyGenerated: Bool {
            primaryKey.count == 1 && !mappings.contains { $0.column(primaryKey[0]) != nil }
        }
    }

    /// - Throws: ``ExportError`` with the first table, row and column that would come back different.
    mutating func check() throws {
        try db.addRowHash()
        tables = try findTables()
        for table in inOrder {
            for schema in ["store", ExportTrial.schema] { try number(table, schema) }
            try compare(table)
            numbered.insert(table.name.lowercased())
        }
    }

    private func findTables() throws -> [String: Table] {
        var tables: [String: Table] = [:]
        for mapping in mapping.tables {
            let id = mapping.table.lowercased()
            if tables[id] == nil {
                let names = Set(
                    try String.fetchAll(
                        db, sql: "SELECT lower(name) FROM pragma_table_info(?, 'store')", arguments: [mapping.table]))
                let hasRowID = try db.hasRowIDInStore(mapping.table)
                tables[id] = Table(
                    name: mapping.table, mappings: [], columns: [],
                    primaryKey: try db.keyInStore(of: mapping.table),
                    rowID: hasRowID ? ["rowid", "_rowid_", "oid"].first { !names.contains($0) } : nil,
                    number: tables.count)
            }
            for column in mapping.columns {
                switch column.origin {
                // The document does not have these columns.
                case .response, .sent: continue
                default: break
                }
                let isKnown = tables[id]?.columns.contains { $0.name.lowercased() == column.name.lowercased() } ?? true
                if column.isExported, !isKnown { tables[id]?.columns.append(column) }
            }
            tables[id]?.mappings.append(mapping)
        }
        return tables
    }

    /// The tables in order: a table comes before those that refer to it.
    private var inOrder: [Table] {
        var ordered: [Table] = []
        var visited: Set<String> = []
        func visit(_ name: String) {
            guard let table = tables[name], visited.insert(name).inserted else { return }
            for parent in table.columns.compactMap(\.parent) { visit(parent.lowercased()) }
            ordered.append(table)
        }
        for table in tables.values.sorted(by: { $0.number < $1.number }) { visit(table.name.lowercased()) }
        return ordered
    }

    // MARK: - Numbers of rows

    private func work(_ table: Table, _ schema: String) -> String { "temp.numbers_\(table.number)_\(schema)" }

    private func number(_ table: Table, _ schema: String) throws {
        let values = table.columns.map { value(of: $0, in: table, schema) }
        let key = table.mappings[0].key.compactMap { name in
            table.columns.first { $0.name.lowercased() == name.lowercased() }
        }.map { value(of: $0, in: table, schema) }
        let condition = try schema == "store" ? condition(for: table.mappings) : nil
        try db.execute(
            sql: """
                CREATE TABLE \(work(table, schema)) (id INTEGER PRIMARY KEY, number INTEGER NOT NULL, key INTEGER);
                INSERT INTO \(work(table, schema))
                SELECT \(table.rowID.map { "m." + $0 } ?? "NULL"), \(hash(values)), \(key.isEmpty ? "NULL" : hash(key))
                FROM \(schema).\(table.name.sqlIdentifier) m\(condition.map { " WHERE " + $0 } ?? "")
                """)
    }

    /// Returns the SQL condition for the rows that an export writes, as `m`; nil if it writes all.
    private func condition(for mappings: [TableMapping]) throws -> String? {
        let each = try mappings.map { mapping in
            try (ExportSession.conditions(for: mapping, of: request) + conditionsOnParents(of: mapping, "m"))
                .joined(separator: " AND ")
        }
        return each.contains("") ? nil : each.map { "(\($0))" }.joined(separator: " OR ")
    }

    /// Returns the SQL that hashes values. It is nested, because a function of SQLite takes only about a hundred
    /// arguments.
    private func hash(_ values: [String]) -> String {
        var values = values.isEmpty ? ["NULL"] : values
        repeat {
            values = stride(from: 0, to: values.count, by: 90).map { start in
                "row_hash(\(values[start..<min(start + 90, values.count)].joined(separator: ", ")))"
            }
        } while values.count > 1
        return values[0]
    }

    /// Returns the SQL that gives a column's value in a form that is the same in both stores. The row is `m`.
    private func value(of column: ColumnMapping, in table: Table, _ schema: String) -> String {
        let own = "m.\(column.name.sqlIdentifier)"
        if let reference = column.reference, let other = tables[reference.table.lowercased()], other.isKeyGenerated {
            let key = other.primaryKey[0].sqlIdentifier
            return """
                (SELECT r.\(reference.column.sqlIdentifier) FROM \(schema).\(other.name.sqlIdentifier) r
                WHERE r.\(key) = \(own))
                """
        }
        guard let parent = column.parent, let other = tables[parent.lowercased()], other.isKeyGenerated
        else { return own }
        let key = other.primaryKey[0].sqlIdentifier
        if numbered.contains(parent.lowercased()), let rowID = other.rowID {
            return """
                (SELECT t.number FROM \(schema).\(other.name.sqlIdentifier) p
                CROSS JOIN \(work(other, schema)) t ON t.id = p.\(rowID) WHERE p.\(key) = \(own))
                """
        }
        // A row of the same table, or in a cycle of tables, is identified by its values, without the row that it
        // belongs to.
        let values = other.columns.filter { $0.parent == nil && $0.reference == nil }
        return """
            (SELECT \(hash(values.map { "p." + $0.name.sqlIdentifier })) FROM \(schema).\(other.name.sqlIdentifier) p
            WHERE p.\(key) = \(own))
            """
    }

    // MARK: - Comparing

    private func compare(_ table: Table) throws {
        func differing(_ order: String, _ limit: Int) throws -> [Int64] {
            try Int64.fetchAll(
                db,
                sql: """
                    SELECT number FROM (
                        SELECT number, 1 AS n FROM \(work(table, "store"))
                        UNION ALL SELECT number, -1 FROM \(work(table, ExportTrial.schema)))
                    GROUP BY number HAVING sum(n) \(order) 0 LIMIT \(limit)
                    """)
        }
        func row(_ number: Int64, _ schema: String) throws -> [ExportDifference.Value] {
            let values = table.columns.map { value(of: $0, in: table, schema) }
            let place =
                table.rowID.map { "m.\($0) = (SELECT id FROM \(work(table, schema)) WHERE number = ? LIMIT 1)" }
                ?? "\(hash(values)) = ? LIMIT 1"
            // SQLite selects at most 2,000 columns.
            return try stride(from: 0, to: values.count, by: 900).flatMap { start -> [ExportDifference.Value] in
                let columns = table.columns[start..<min(start + 900, values.count)]
                let selected = columns.indices.flatMap { ["m." + columns[$0].name.sqlIdentifier, values[$0]] }
                let found = try Row.fetchOne(
                    db,
                    sql: """
                        SELECT \(selected.joined(separator: ", ")) FROM \(schema).\(table.name.sqlIdentifier) m WHERE \(place)
                        """, arguments: [number]
                ).map { Array($0.databaseValues) }
                guard let found else { return [] }
                return zip(columns, 0...).map { column, index in
                    .init(column: column, stored: found[2 * index], compared: found[2 * index + 1])
                }
            }
        }
        let difference = ExportDifference(table: table.name, key: table.mappings[0].key, mappings: mapping.tables)
        guard let lost = try differing(">", 1).first else {
            guard let new = try differing("<", 1).first else { return }
            throw ExportError(description: difference.more(try row(new, ExportTrial.schema)))
        }
        let values = try row(lost, "store")
        for value in values {
            guard let parent = value.column.parent, let other = tables[parent.lowercased()],
                let key = other.primaryKey.first, other.name != table.name || !value.stored.isNull
            else { continue }
            let isThere = try Bool.fetchOne(
                db,
                sql: """
                    SELECT EXISTS (SELECT 1 FROM store.\(other.name.sqlIdentifier) WHERE \(key.sqlIdentifier) = ?)
                    """, arguments: [value.stored])
            if isThere != true { throw ExportError(description: difference.orphan(values, value, of: other.name)) }
        }
        let twins = try Int64.fetchAll(
            db,
            sql: """
                SELECT number FROM \(work(table, ExportTrial.schema))
                WHERE key = (SELECT key FROM \(work(table, "store")) WHERE number = ? LIMIT 1) LIMIT 1
                """, arguments: [lost])
        let candidates = try (twins.isEmpty ? differing("<", 10) : twins).map { try row($0, ExportTrial.schema) }
        throw ExportError(description: difference.changed(values, into: candidates, isSameRow: !twins.isEmpty))
    }
}

/// Rows that an export leaves out because they, or the rows around them, are marked as gone.
extension ExportComparison {
    /// Returns the SQL conditions under which the rows around a row, which is known by an alias, are not gone.
    ///
    /// - Parameter tables: the tables in lower case that the way has led through.
    func conditionsOnParents(
        of mapping: TableMapping, _ alias: String, through tables: Set<String> = []
    ) throws -> [String] {
        let tables = tables.union([mapping.table.lowercased()])
        return try mapping.columns.compactMap { column in
            guard let name = column.parent, !tables.contains(name.lowercased()),
                let parent = self.mapping.tables.first(where: { $0.table.lowercased() == name.lowercased() }),
                case let keys = try db.keyInStore(of: parent.table), keys.count == 1, let key = keys.first
            else { return nil }
            let outer = "\(alias)p"
            let own = request.deletionMark(of: parent).map { ["\(outer).\($0.sqlIdentifier) IS NULL"] } ?? []
            let conditions = try own + conditionsOnParents(of: parent, outer, through: tables)
            guard !conditions.isEmpty else { return nil }
            let value = "\(alias).\(column.name.sqlIdentifier)"
            return """
                (\(value) IS NULL OR \(value) IN (
                    SELECT \(outer).\(key.sqlIdentifier) FROM store.\(parent.table.sqlIdentifier) \(outer)\(conditions.whereClause)))
                """
        }
    }
}
