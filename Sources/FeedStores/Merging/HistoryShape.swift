import FeedModel
package import FeedStaging

/// The history of a table: how it names the table's rows, and which of the columns it keeps. In conditions, an entry of
/// the history and a row of the table have one alias each.
package struct HistoryShape {
    package let stored: StoredTable
    package let history: HistoryName
    /// The history's columns for those of the table, in the order in which it has got them. The table may have lost some.
    package private(set) var columns: [String]
    /// The columns that now hold values of another type in the table.
    package private(set) var retyped: [String] = []
    /// What the store has under the name of the view of the table's versions; nil if the name is free.
    private(set) var versions: String?
    private let dialect: any SQLDialect

    /// As SQL names it.
    package var sql: String { history.sql }

    /// The columns that always identify a row; empty if only its row id does.
    package var identity: [String] { stored.lastingKey }

    /// The columns of a row's key; empty if only its row id identifies it.
    package var key: [String] { identity.isEmpty ? stored.primaryKey : identity }

    /// The history's columns by which entries of one row belong together, as SQL names them.
    package var groupColumns: [String] {
        identity.isEmpty ? [HistoryTable.row] : identity.map(\.sqlIdentifier)
    }

    /// False if the table has a new key without a column in the history, or one of another type, or has lost its key.
    package var hasIdentity: Bool { (!identity.isEmpty || stored.rowID != nil) && has(identity) }

    /// Returns true if the history has columns, which the table may have got since, or changed to another type.
    package func has(_ names: [String]) -> Bool {
        let known = Set(columns.map { $0.lowercased() }).subtracting(retyped.map { $0.lowercased() })
        return names.allSatisfy { known.contains($0.lowercased()) }
    }

    /// Returns the columns by which the merge identifies a row.
    ///
    /// - Throws: ``StoreError`` if the table has none.
    package func mergeKey() throws -> [String] {
        guard let key = stored.mergeKey else { throw Undo.noKey(stored.name) }
        return key
    }

    /// Returns the table's column of this name that holds values of its own; nil if it has none.
    package func column(_ name: String) -> StoredTable.Column? {
        stored.column(name).flatMap { $0.isComputed ? nil : $0 }
    }

    /// Returns an expression for the value of a column in a row of the table.
    func value(_ name: String, in alias: String) -> String { column(name).map { "\(alias).\($0.sql)" } ?? "NULL" }

    // MARK: - Rows

    /// Returns an expression for the key of a row or an entry, for users.
    func key(_ alias: String) -> String {
        key.isEmpty ? "\(alias).\(HistoryTable.row)" : dialect.changelogKey(key, of: stored, alias)
    }

    /// Returns a condition that a row of the table is the one of an entry.
    package func isRow(_ row: String, _ entry: String) -> String {
        guard !identity.isEmpty else { return "\(row).\(stored.rowID ?? "rowid") = \(entry).\(HistoryTable.row)" }
        return identity.map(\.sqlIdentifier).map { "\(row).\($0) = \(entry).\($0)" }.joinedConditions("AND")
    }

    /// Returns the same for a row that has been brought back, which may have got another row id. A row that was not there
    /// had another one, or no key that is known.
    func isRestoredRow(_ row: String, _ entry: String) throws -> String {
        guard identity.isEmpty else { return isRow(row, entry) }
        let isSame = try mergeKey().map(\.sqlIdentifier).map { "\(row).\($0) = \(entry).\($0)" }
        return (isSame + ["\(entry).\(HistoryTable.operation) <> 'insert'"]).joinedConditions("AND")
    }

    /// Returns a condition that the row of an entry has another key than the merge knows it by; nil if it cannot.
    func hasOtherKey(_ row: String, _ entry: String) throws -> String? {
        guard identity.isEmpty else { return nil }
        return try mergeKey().map { name in
            let column = try stored.needed(name)
            return dialect.differs(column, "\(entry).\(column.sql)", from: "\(row).\(column.sql)", exactly: false)
        }.joinedConditions("OR")
    }

    // MARK: - Digests

    /// Returns an expression for the digest of the row that an entry keeps; NULL where there was none.
    func digest(ofEntry alias: String, width: Int) -> String {
        let digest = dialect.digest(columns.prefix(width).map { "\(alias).\($0.sqlIdentifier)" })
        return "CASE WHEN \(alias).\(HistoryTable.operation) <> 'insert' THEN \(digest) END"
    }

    /// Returns an expression for the digest of a row of the table; NULL where an outer join has found none.
    func digest(ofStored alias: String, width: Int? = nil) -> String {
        let digest = dialect.digest(columns.prefix(width ?? columns.count).map { value($0, in: alias) })
        return "CASE WHEN \(stored.isThere(alias)) THEN \(digest) END"
    }
}

extension HistoryShape {
    /// Reads the shape of an existing history; nil if the table has none.
    package init?(_ catalog: any HistoryCatalog, of table: StoredTable) throws {
        try self.init(catalog, HistoryTable.name(of: table.name), of: table)
    }

    /// Reads the shape of an existing history by its name; nil if its table is gone.
    init?(_ catalog: any HistoryCatalog, _ history: HistoryName) throws {
        guard let table = try catalog.table(history.table) else { return nil }
        try self.init(catalog, history.name, of: table)
    }

    private init?(_ catalog: any HistoryCatalog, _ name: String, of table: StoredTable) throws {
        guard let found = try catalog.columns(of: name, for: table) else { return nil }
        stored = table
        dialect = catalog.dialect
        history = found.history
        columns = found.columns.map(\.name)
        retyped = found.columns.filter { !$0.fits }.map(\.name)
        versions = found.versions
    }

    /// Returns the history of a table with all columns of the table, created if it does not exist, or if its values no
    /// longer fit into the table.
    static func prepare(_ catalog: any HistoryCatalog, for table: StoredTable) throws -> HistoryShape {
        let columns = table.columns.filter { !$0.isComputed }
        if var shape = try HistoryShape(catalog, of: table) {
            if shape.retyped.isEmpty {
                for column in columns where !shape.has([column.name]) {
                    try catalog.add(column, of: table, to: shape.history)
                    shape.columns.append(column.name)
                }
                return shape
            }
            try shape.end(catalog)
        }
        let history = try catalog.create(for: table, columns)
        // Somebody else's table may have the name of the view.
        return HistoryShape(
            stored: table, history: history, columns: columns.map(\.name),
            versions: try catalog.columns(of: history.name, for: table)?.versions, dialect: catalog.dialect)
    }

    /// Drops a history. Its runs can no longer be undone.
    private func end(_ catalog: any HistoryCatalog) throws {
        try catalog.session.execute(
            """
            UPDATE \(dialect.runs) SET history = \(dialect.literal(false))
            WHERE id IN (SELECT \(HistoryTable.run) FROM \(sql))
            """)
        try HistoryVersions(shape: self).drop(catalog)
        try catalog.drop(history)
    }
}
