import GRDB

/// How rows are inserted whose parents need not be looked for one by one.
extension Merge {
    /// Inserts staged rows into the store's table.
    ///
    /// SQLite looks for the parent of every row, which is up to an eighth of a large sync. Many rows mostly refer to few
    /// parents: where these are few indeed, each is looked for once.
    ///
    /// - Parameter count: how many rows the statement inserts.
    /// - Returns: how many it has inserted.
    func execute(_ insertion: String, of count: Int, into part: StagedStack.Part) throws -> Int {
        if stack.path != nil, try hasAllParents(part, count) {
            try db.withoutForeignKeyChecks { try db.execute(cached: insertion) }
        } else {
            try db.execute(cached: insertion)
        }
        return db.changesCount
    }

    /// Whether no row of a part can break a foreign key, nor mend one that another has broken.
    private func hasAllParents(_ part: StagedStack.Part, _ count: Int) throws -> Bool {
        let table = part.table.table
        guard !table.foreignKeys.isEmpty, !db.hasBrokenForeignKeys, try !hasTriggers(table) else { return false }
        return try table.foreignKeys.allSatisfy { key in
            guard let values = part.values(of: key), values.count < count,
                let parent = try TableInfo(db, table: key.parent, schema: "main"),
                let child = table.column(key.columns[0]),
                let target = (key.targets.isEmpty ? parent.primaryKey : key.targets).first.flatMap(parent.column),
                parent.collations(ofKey: [target.name]) != nil,
                // Then SQLite compares a value of the feed with the parent's as it would compare the one that is stored.
                Affinity(declaredType: child.declaredType) == Affinity(declaredType: target.declaredType)
            else { return false }
            let statement = try db.cachedStatement(
                sql: """
                    SELECT EXISTS (SELECT 1 FROM main.\(parent.name.sqlIdentifier) WHERE \(target.name.sqlIdentifier) = ?)
                    """)
            return try values.allSatisfy { try Bool.fetchOne(statement, arguments: [$0]) == true }
        }
    }

    /// Their statements would not be checked either.
    private func hasTriggers(_ table: TableInfo) throws -> Bool {
        let statement = try db.cachedStatement(
            sql: """
                SELECT EXISTS (
                    SELECT 1 FROM main.sqlite_schema WHERE type = 'trigger' AND lower(tbl_name) = lower(?))
                """)
        return try Bool.fetchOne(statement, arguments: [table.name]) == true
    }
}

extension StagedStack.Part {
    /// The different values with which the rows refer by a foreign key of one column; nil where they are not known.
    fileprivate func values(of key: TableInfo.ForeignKey) -> [DatabaseValue]? {
        guard key.columns.count == 1, case let column = key.columns[0].lowercased(),
            // What is left out is not NULL where its column has a default.
            !table.ignored.contains(column)
        else { return nil }
        if let constant = table.constants.first(where: { $0.column.name.lowercased() == column }) {
            return [constant.value.databaseValue]
        }
        return table.columns.firstIndex { $0.name.lowercased() == column }.flatMap { counts.referring[$0]?.all }
    }
}
