package import FeedModel
import FeedStaging
import Foundation

/// Reads the tables that sources write, in one transaction that only reads.
package struct TableReader {
    private let catalog: any HistoryCatalog
    private let ledger: Ledger
    private var session: any SQLSession { catalog.session }
    private var dialect: any SQLDialect { catalog.dialect }

    package init(_ catalog: any HistoryCatalog, _ ledger: Ledger) {
        self.catalog = catalog
        self.ledger = ledger
    }

    // MARK: - Tables

    /// Returns existing tables that sources have written, by name.
    ///
    /// - Parameter names: only tables of these names; nil for all.
    package func tables(_ names: Set<String>?) throws -> [BrowsedTable] {
        var found: [TableID: BrowsedTable] = [:]
        let writers = try ledger.requests.writers()
        for (name, sources) in writers where Self.isOfFeeds(name) && names?.contains(name) != false {
            guard let table = try catalog.table(name) else { continue }
            let all = Set(sources + (found[table.id]?.sources ?? []))
            found[table.id] = try shape(table, sources: all.sorted(), among: writers.keys)
        }
        return found.values.sorted { $0.name < $1.name }
    }

    /// Returns the names of tables as sources name them, with the sources. The tables may not exist any more.
    package func names() throws -> [String: [String]] {
        try ledger.requests.writers().filter { Self.isOfFeeds($0.key) }
    }

    /// Returns a table; nil if no source has written one of this name.
    package func table(_ name: String) throws -> BrowsedTable? { try find(name)?.shape }

    private func find(_ name: String) throws -> (stored: StoredTable, shape: BrowsedTable)? {
        guard Self.isOfFeeds(name) else { return nil }
        let all = try ledger.requests.writers()
        let writers = all.filter { $0.key.lowercased() == name.lowercased() }
        guard let written = writers.keys.min(), let table = try catalog.table(written) else { return nil }
        return (table, try shape(table, sources: Set(writers.values.joined()).sorted(), among: all.keys))
    }

    private func needed(_ name: String) throws -> (stored: StoredTable, shape: BrowsedTable) {
        guard let found = try find(name) else {
            throw RowQuery.Problem("there is no table '\(name)' that a source has written")
        }
        return found
    }

    /// Returns false for the name of one of Tributary's own tables, in whichever schema.
    private static func isOfFeeds(_ name: String) -> Bool {
        !(name.split(separator: ".").last ?? "").lowercased().hasPrefix("tributary_")
    }

    /// - Parameter written: the names of all tables that sources have written.
    private func shape(
        _ table: StoredTable, sources: [String], among written: some Collection<String>
    ) throws -> BrowsedTable {
        var shape = BrowsedTable(
            name: table.name, columns: table.columns.map { BrowsedTable.Column(name: $0.name, type: $0.type) },
            key: table.lastingKey, sources: sources)
        for key in table.foreignKeys where Self.isOfFeeds(key.parentName) {
            guard written.contains(where: { $0.lowercased() == key.parentName.lowercased() }),
                let parent = try catalog.table(key.parentName)
            else { continue }
            let targets = key.targets.isEmpty ? parent.primaryKey : key.targets
            guard targets.count == key.columns.count else { continue }
            shape.links.append(BrowsedTable.Link(columns: key.columns, table: parent.name, targets: targets))
        }
        return shape
    }

    // MARK: - Rows

    /// Reports the first rows of a query in their order, until the body returns false.
    ///
    /// - Throws: ``RowQuery/Problem``, and the errors of the body.
    package func rows(_ query: RowQuery, _ body: (BrowsedRow) throws -> Bool) throws {
        let (stored, shape) = try needed(query.table)
        let statements = RowStatements(stored, dialect)
        let sorted = query.order.flatMap { shape.position(of: $0.column) }
        var left = query.limit
        for statement in try statements.statements(query, shape) where left > 0 {
            try session.forEachRow(of: (statement + " LIMIT \(bind: left)").once) { row in
                left -= 1
                if try !body(read(row, statements, sorted: sorted)) { left = 0 }
                return left > 0
            }
        }
    }

    /// Returns the values of a column in rows of a query, the most frequent first. The query's limit is the most rows that are
    /// counted.
    ///
    /// - Parameter most: the most values.
    /// - Throws: ``RowQuery/Problem``.
    package func values(of column: String, _ query: RowQuery, most: Int) throws -> ValueCounts {
        let (stored, shape) = try needed(query.table)
        let statements = RowStatements(stored, dialect)
        let place = shape.position(of: column) ?? 0
        var rows = 0
        let values = try session.all(statements.statement(valuesOf: column, query, shape, most: most).once) { row in
            rows = try row.int(2) ?? 0
            return ValueCount(
                value: try dialect.value(of: statements.columns[place], row, 0), count: try row.int(1) ?? 0)
        }
        return ValueCounts(values: values, rows: rows)
    }

    /// Returns the number of a query's rows, up to its limit.
    ///
    /// - Throws: ``RowQuery/Problem``.
    package func count(_ query: RowQuery) throws -> Int {
        let (stored, shape) = try needed(query.table)
        let statement = try RowStatements(stored, dialect).statement(countOf: query, shape)
        return try session.int64(statement.once).map { Int($0) } ?? 0
    }

    /// Returns a row; nil if it does not exist.
    ///
    /// - Throws: ``RowQuery/Problem``.
    package func row(_ key: [StoredValue], of table: String) throws -> BrowsedRow? {
        let statements = RowStatements(try needed(table).stored, dialect)
        return try session.first(statements.statement(of: key).once) { try read($0, statements, sorted: nil) }
    }

    private func read(_ row: any SQLRow, _ statements: RowStatements, sorted: Int?) throws -> BrowsedRow {
        let columns = statements.columns
        // What is bound again is read as it is, not as it is shown.
        let key = statements.key.indices.map { row.storedValue(columns.count + $0) }
        return BrowsedRow(
            values: try columns.enumerated().map { try dialect.value(of: $1, row, $0) },
            place: RowPlace(key: key, sorted: sorted.map { row.storedValue($0) }))
    }

    // MARK: - Who wrote a row

    /// Returns the last writings of a row that the changelog remembers, the last one first.
    ///
    /// - Parameter keys: the keys, each with its columns, by which requests are declared to tell the table's rows apart.
    /// - Throws: ``RowQuery/Problem``.
    package func writings(
        of key: [StoredValue], in name: String, declared keys: [[String]], most: Int
    ) throws -> [RowWriting] {
        let (stored, _) = try needed(name)
        let statements = RowStatements(stored, dialect)
        // The changelog names a row by the key that its request declares.
        let declared = keys.filter { $0.allSatisfy { stored.column($0) != nil } }
        let forms = declared.isEmpty ? [stored.primaryKey] : declared
        let names = Set([stored.name, name]).sorted().map { dialect.literal($0) }.joined(separator: ", ")
        let isRow = try statements.isRow(key)
        let isWritten = forms.map { columns -> SQLText in
            let form = dialect.changelogKey(columns.map { stored.column($0)?.name ?? $0 }, of: stored, "m")
            return "c.key = (SELECT \(form) FROM \(stored.sql) m WHERE \(isRow))"
        }
        return try ledger.changelog.writings(
            where: "c.\"table\" IN (\(names)) AND (\(isWritten.joined(separator: " OR ")))", most: most)
    }

    /// Returns the last changes of a row of which the history has kept what was before, the last one first.
    ///
    /// - Returns: nil if the table has no history.
    /// - Throws: ``RowQuery/Problem``.
    package func history(of key: [StoredValue], in name: String, most: Int) throws -> [RowChange]? {
        let (stored, _) = try needed(name)
        guard let shape = try HistoryShape(catalog, of: stored), shape.hasIdentity else { return nil }
        // The history's columns have the names of the table's, but for the row id.
        let isEntry: SQLText
        if shape.identity.isEmpty {
            guard key.count == 1 else { return nil }
            isEntry = "h.\(HistoryTable.row) = \(bind: SQLText.Value(key[0]))"
        } else {
            let columns = stored.browsedKey.compactMap(\.column)
            guard columns.count == key.count else {
                throw RowQuery.Problem("a key of table '\(name)' has \(columns.count) values, not \(key.count)")
            }
            isEntry = try zip(columns, key).map { column, value in
                "h.\(column.sqlIdentifier) = \(bind: try dialect.bound(value, for: stored.needed(column)))" as SQLText
            }.joined(separator: " AND ")
        }
        return try RowChanges(catalog, ledger).last(of: shape, where: isEntry, most: most)
    }
}
