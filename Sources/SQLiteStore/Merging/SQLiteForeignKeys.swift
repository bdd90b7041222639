import FeedModel
import FeedStaging
import FeedStores
import GRDB

/// Insertion of rows whose parents need not be looked up one by one.
extension SQLiteMergeDriver {
    /// Inserts staged rows into the store's table.
    ///
    /// SQLite checks the foreign keys of each row that it writes. For many rows, one query over the staged ones does it in
    /// less time if their parents are many, and in the same time if they are few.
    ///
    /// - Parameter count: the number of rows that the statement inserts.
    /// - Returns: the number of rows that it has inserted.
    func execute(
        _ insertion: String, _ arguments: StatementArguments, of count: Int, into part: StagedStack.Part
    ) throws -> Int {
        // The query passes over all staged rows.
        if stack.path != nil, count > part.counts.rows / 2, !db.hasBrokenForeignKeys {
            // Keys that refer to nothing unique are an error of the statement, not of its rows. Preparing it reveals
            // them.
            _ = try db.makeStatement(sql: insertion)
            if try hasAllParents(part) {
                try db.withoutForeignKeyChecks { try db.execute(cached: insertion, arguments) }
                return db.changesCount
            }
        }
        try db.execute(cached: insertion, arguments)
        return db.changesCount
    }

    /// Returns true if no row of a part can violate a foreign key, or resolve a violation of another row.
    private func hasAllParents(_ part: StagedStack.Part) throws -> Bool {
        // Read anew: another process may have changed the table since rows were staged.
        guard let table = try StoredTable(db, table: part.table.table.name, schema: "main"),
            !table.foreignKeys.isEmpty, try !changesOtherRows(table)
        else { return false }
        let rowID = table.generatedKey?.lowercased()
        return try table.foreignKeys.allSatisfy { key in
            guard let parent = try StoredTable(db, table: key.parentName, schema: "main"),
                // An omitted column is not NULL where it has a default, and never NULL where it is the row id.
                key.columns.allSatisfy({ part.table.supplies($0) && $0.lowercased() != rowID })
            else { return false }
            let targets = key.targets.isEmpty ? parent.primaryKey : key.targets
            let isParent = try zip(targets, key.columns).map { target, column -> String? in
                let (target, column) = (try parent.needed(target), try table.needed(column))
                // With equal affinities, SQLite compares a value of the feed with the parent's as it would compare the
                // stored one. The parent's column stands on the left, so that its collation decides, as in a foreign key.
                guard let affinity = column.exactAffinity, affinity == target.exactAffinity else { return nil }
                return "p.\(target.sql) = s.\(column.sql)"
            }
            guard !isParent.contains(nil) else { return false }
            let refers = key.columns.map { "s.\($0.sqlIdentifier) IS NOT NULL" }.joinedConditions("AND")
            return try db.isTrue(
                """
                SELECT NOT EXISTS (
                    SELECT 1 FROM \(part.table.qualifiedName) s WHERE \(refers) AND NOT EXISTS (
                        SELECT 1 FROM \(parent.sql) p WHERE \(isParent.compactMap(\.self).joinedConditions("AND"))))
                """)
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

extension StoredTable.Column {
    /// The affinity where it determines how every value is stored. Not for `ANY`, which differs in a STRICT table.
    fileprivate var exactAffinity: Affinity? {
        let affinity = Affinity(declaredType: type)
        return affinity == .text || affinity == .integer ? affinity : nil
    }
}
