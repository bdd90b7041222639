import FeedModel
import FeedStaging
import GRDB

/// Insertion of rows whose parents need not be looked up one by one.
extension SQLiteMergeDriver {
    /// Inserts staged rows into the store's table.
    ///
    /// SQLite looks up the parent of every row, which is up to an eighth of a large sync. Many rows usually refer to
    /// few parents. If the parents are few, each is looked up once.
    ///
    /// - Parameter count: the number of rows that the statement inserts.
    /// - Returns: the number of rows that it has inserted.
    func execute(
        _ insertion: String, _ arguments: StatementArguments, of count: Int, into part: StagedStack.Part
    ) throws -> Int {
        if stack.path != nil, try hasAllParents(part, count) {
            // Keys that refer to nothing unique are an error of the statement, not of its rows. Preparing it reveals
            // them.
            _ = try db.makeStatement(sql: insertion)
            try db.withoutForeignKeyChecks { try db.execute(cached: insertion, arguments) }
        } else {
            try db.execute(cached: insertion, arguments)
        }
        return db.changesCount
    }

    /// Returns true if no row of a part can violate a foreign key, or resolve a violation of another row.
    private func hasAllParents(_ part: StagedStack.Part, _ count: Int) throws -> Bool {
        // Read anew: another process may have changed the table since rows were staged.
        guard let table = try StoredTable(db, table: part.table.table.name, schema: "main"),
            !table.foreignKeys.isEmpty, !db.hasBrokenForeignKeys, try !changesOtherRows(table)
        else { return false }
        return try table.foreignKeys.allSatisfy { key in
            guard let values = part.values(of: key), values.count < count,
                let parent = try StoredTable(db, table: key.parentName, schema: "main"),
                let child = table.column(key.columns[0]),
                let target = (key.targets.isEmpty ? parent.primaryKey : key.targets).first.flatMap(parent.column),
                // With equal affinities, SQLite compares a value of the feed with the parent's as it would compare the
                // stored one.
                let affinity = child.exactAffinity, affinity == target.exactAffinity
            else { return false }
            let statement = try db.cachedStatement(
                sql: """
                    SELECT EXISTS (SELECT 1 FROM main.\(parent.name.sqlIdentifier) WHERE \(target.name.sqlIdentifier) = ?)
                    """)
            return try values.allSatisfy { try Bool.fetchOne(statement, arguments: [$0]) == true }
        }
    }

    /// Returns true if an insertion may write to other tables, or replace rows. Neither would be checked.
    private func changesOtherRows(_ table: StoredTable) throws -> Bool {
        let statement = try db.cachedStatement(
            sql: """
                SELECT EXISTS (
                    SELECT 1 FROM (SELECT * FROM main.sqlite_schema UNION ALL SELECT * FROM temp.sqlite_schema)
                    WHERE lower(tbl_name) = lower(?) AND (type = 'trigger' OR sql LIKE '%replace%'))
                """)
        return try Bool.fetchOne(statement, arguments: [table.name]) == true
    }
}

extension StagedStack.Part {
    /// The distinct values by which the rows refer through a foreign key of one column; nil if they are not known.
    fileprivate func values(of key: StoredTable.ForeignKey) -> [DatabaseValue]? {
        guard key.columns.count == 1, case let column = key.columns[0].lowercased(),
            // An omitted column is not NULL where it has a default, and never NULL where it is the row id.
            !table.ignored.contains(column), column != table.table.generatedKey?.lowercased()
        else { return nil }
        if let constant = table.constants.first(where: { $0.column.name.lowercased() == column }) {
            return constant.value.utf8.contains(0) ? nil : [constant.value.databaseValue]
        }
        return table.columns.firstIndex { $0.name.lowercased() == column }.flatMap { counts.referring[$0]?.all }
    }
}

extension StoredTable.Column {
    /// The affinity where it determines how every value is stored. Not for `ANY`, which differs in a STRICT table.
    fileprivate var exactAffinity: Affinity? {
        let affinity = Affinity(declaredType: type)
        return affinity == .text || affinity == .integer ? affinity : nil
    }
}
