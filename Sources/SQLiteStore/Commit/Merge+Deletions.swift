import FeedModel
import FeedStaging
import FeedStores
import GRDB

/// Rows that the feed no longer has.
extension Merge {
    func deleteMissingRows() throws -> MergeCounts {
        struct Mirror: Hashable {
            var rows: MirroredRows
            var within: RowShape.Within?
        }
        var found: [(mirror: Mirror, info: TableInfo)] = []
        var seen: Set<Mirror> = []
        for part in stack.parts where part.table.sync == .mirror {
            let rows = MirroredRows(
                table: part.table.table.name, scope: part.table.scope, window: part.table.window)
            let mirror = Mirror(rows: rows, within: part.table.within)
            if seen.insert(mirror).inserted { found.append((mirror, part.table.table)) }
        }
        for empty in mirrors {
            let staged = stack.parts.first { $0.table.table.name == empty.table }?.table.table
            guard let info = try staged ?? TableInfo(db, table: empty.table, schema: "main") else { continue }
            let mirror = Mirror(rows: MirroredRows(table: info.name, scope: empty.scope, window: empty.window))
            if seen.insert(mirror).inserted { found.append((mirror, info)) }
        }
        // A child that is mirrored within its parents is deleted before them.
        return try found.reversed().reduce(into: try deleteRemovals()) { counts, entry in
            guard
                let missing = try missingRows(of: entry.info, entry.mirror.rows, within: entry.mirror.within)
            else { return }
            if let gone = goneColumn(of: entry.info.name) {
                if retention.marksLate(entry.info.name, of: stack) {
                    try postpone(missing)
                } else {
                    counts += try mark(missing, as: gone)
                }
            } else {
                counts += try deleteWhenPossible(missing)
            }
        }
    }

    /// Deletes rows, or notes that they are to be deleted once others have left them.
    func deleteWhenPossible(_ missing: ChangedRows) throws -> MergeCounts {
        guard try hasStagedChildren(missing.table) else { return try delete(missing) }
        try postpone(missing)
        return MergeCounts()
    }

    /// Returns the rows that the feed lacks; nil where there are none.
    private func missingRows(
        of table: TableInfo, _ mirrored: MirroredRows, within: RowShape.Within?
    ) throws -> ChangedRows? {
        let located = ChangedRows.located(table)
        let scope = mirrored.scope.sorted { $0.key < $1.key }
        if let gone = retention.goneColumn(of: table.name) { try retention.check(table, has: gone) }
        let conditions =
            try scope.map { "m.\($0.key.sqlIdentifier) = ?" }
            + (goneColumn(of: table.name).map { ["m.\($0) IS NULL"] } ?? [])
            + (mirrored.window.map { [try isInWindow($0, mirrored)] } ?? [])
            + isNotExpired(table, mirrored.scope) + isNotStaged(table)
            + (within.map { [isChildOfStagedParent($0)] } ?? [])
        let missing = try workTable(
            "missing_\(located.count)", "\(located.joined(separator: ", ")), key")
        try execute(
            """
            INSERT INTO \(missing) SELECT \(table.locator.map { "m." + $0 }.joined(separator: ", ")), \(table.journalKey("m", among: stack))
            FROM main.\(table.name.sqlIdentifier) m\(conditions.whereClause)
            """, StatementArguments(scope.map(\.value)))
        progress.changes.add(deleted: db.changesCount, of: ScopedRows(table: mirrored.table, scope: mirrored.scope))
        return db.changesCount > 0 ? ChangedRows(table: table, change: .delete, name: missing) : nil
    }

    /// Keeps a statement prepared, unless it names the time of the commit.
    private func execute(_ statement: String, _ arguments: StatementArguments) throws {
        if retention.expiries.isEmpty {
            try db.execute(cached: statement, arguments)
        } else {
            try db.execute(sql: statement, arguments: arguments)
        }
    }

    /// Returns conditions that a row of the store, `m`, is not staged for its table, whichever request it came with.
    private func isNotStaged(_ table: TableInfo) throws -> [String] {
        let parts = stack.parts.filter {
            $0.table.table.name == table.name && $0.counts.rows > 0 && $0.table.identity != .none
        }
        // Where each of many requests has a scope of its own, its rows would be looked for among those of each other.
        let isMany = parts.count > Self.fewParts && parts.allSatisfy { $0.table.identity == parts[0].table.identity }
        if isMany, case .key(let key, let collations) = parts[0].table.identity {
            let keys = try stagedKeys(of: parts, key, collations, table)
            let isSame = key.indices.map { "k.k\($0) = m.\(key[$0].sqlIdentifier)" }.joinedConditions("AND")
            return ["NOT EXISTS (SELECT 1 FROM \(keys) k WHERE \(isSame))"]
        }
        return parts.map { part in
            if part.table.isIdentifiedByManyColumns, !part.table.isTree {
                return "m.\(table.locator[0]) NOT IN (\(part.table.rowsThatAreInBoth("stored")))"
            }
            let isSame = part.table.isSameRow("s", "m") + (part.table.isTree ? " AND \(hasParents(part.table))" : "")
            return "NOT EXISTS (SELECT 1 FROM \(part.table.qualifiedName) s WHERE \(isSame))"
        }.sorted()
    }

    /// The most parts of a table that are asked one by one for its staged rows.
    private static let fewParts = 4

    /// Returns the merge's table of all keys, `k0`, `k1` …, that are staged for a table. It is made once.
    private func stagedKeys(
        of parts: [StagedStack.Part], _ key: [String], _ collations: [String], _ table: TableInfo
    ) throws -> String {
        if let known = progress.stagedKeys[table.name] { return known }
        let names = key.indices.map { "k\($0)" }.joined(separator: ", ")
        let columns = key.indices.map {
            "k\($0) \(table.column(key[$0])?.stagedType ?? "BLOB") COLLATE \(collations[$0])"
        }
        let definition = columns.joined(separator: ", ") + ", PRIMARY KEY (\(names))"
        let keys = try workTable("keys_\(Fingerprint.hexadecimal(table.name + definition))", definition)
        for part in parts {
            let values = key.map { "s." + $0.sqlIdentifier }.joined(separator: ", ")
            try db.execute(cached: "INSERT OR IGNORE INTO \(keys) SELECT \(values) FROM \(part.table.qualifiedName) s")
        }
        progress.stagedKeys[table.name] = keys
        progress.tablesToEmpty.append(keys)
        return keys
    }

    /// Returns a condition that a row's value is at least the smallest of the feed. False where either has none.
    private func isInWindow(_ window: MirrorWindow, _ mirrored: MirroredRows) throws -> String {
        let table = window.parents.last?.table ?? mirrored.table
        let column = window.column.sqlIdentifier
        let name = window.column.lowercased()
        let collation = try db.comparisons(of: [name], in: table)[name]?.collation ?? "BINARY"
        let row = window.parents.isEmpty ? "m" : "p\(window.parents.count)"
        let isInFeed = stack.parts.filter {
            $0.table.sync == .mirror && $0.counts.rows > 0
                && $0.table.table.name.lowercased() == table.lowercased()
                && $0.table.scope == mirrored.scope && $0.table.window?.column.lowercased() == name
                && $0.table.window?.parents.isEmpty ?? false
        }.map { part in
            "\(row).\(column) >= (SELECT min(s.\(column) COLLATE \(collation)) FROM \(part.table.qualifiedName) s)"
        }.sorted()
        guard !isInFeed.isEmpty else { return "0" }
        var condition = "(\(isInFeed.joined(separator: " OR ")))"
        for (index, parent) in window.parents.enumerated().reversed() {
            guard let info = try TableInfo(db, table: parent.table, schema: "main"), info.primaryKey.count == 1 else {
                return "0"
            }
            let child = index == 0 ? "m" : "p\(index)"
            let alias = "p\(index + 1)"
            condition = """
                \(child).\(parent.column.sqlIdentifier) IN (
                    SELECT \(alias).\(info.primaryKey[0].sqlIdentifier) FROM main.\(info.name.sqlIdentifier) \(alias)
                    WHERE \(condition))
                """
        }
        return condition
    }

    /// Deletes rows, and journals the rows deleted along with them.
    ///
    /// - Parameter told: the rows that have been reported already.
    func delete(_ missing: ChangedRows, told: ChangedRows? = nil) throws -> MergeCounts {
        let taken = try rowsTakenAlong(with: missing)
        for rows in taken.isEmpty ? [missing] : taken { try keep(rows) }
        let tellUpdated = try tellTaken(taken.isEmpty ? [missing] : taken, besides: told)
        let deletion = """
            DELETE FROM main.\(missing.table.name.sqlIdentifier) WHERE (\(missing.table.locator.joined(separator: ", "))) IN (
                SELECT \(missing.located.joined(separator: ", ")) FROM \(missing.name))
            """
        do {
            try db.execute(cached: deletion)
        } catch let error as DatabaseError where !taken.isEmpty && error.isTooDeep {
            try deleteYoungest(of: taken)
            try db.execute(cached: deletion)
        }
        var counts = MergeCounts()
        guard taken.isEmpty else {
            try tellUpdated()
            let own = try Int.fetchOne(db.cachedStatement(sql: "SELECT count(*) FROM \(missing.name)")) ?? 0
            return try note(taken, besides: own)
        }
        counts.deleted = db.changesCount
        try writeJournal(
            missing.table.name, key: "g.key", operation: "delete", from: "\(missing.name) g ORDER BY g.rowid")
        return counts
    }

    // MARK: - Deletions that wait

    /// Returns true if rows of this stack may leave a parent that the stack deletes. The parent then stays until they
    /// have left, and takes none of them along.
    private func hasStagedChildren(_ table: TableInfo) throws -> Bool {
        let graph = try memory.foreignKeys(db)
        var visited: Set<String> = []
        var open = [table.name]
        while let parent = open.popLast() {
            guard visited.insert(parent.lowercased()).inserted else { continue }
            for reference in graph.references(to: parent) where reference.onDelete != nil {
                let isStaged = stack.parts.contains { part in
                    part.table.table.name == reference.child.name && part.counts.rows > 0
                        && part.table.identity != .none
                        && reference.columns.allSatisfy(part.table.supplies)
                }
                if isStaged { return true }
                if reference.onDelete == .cascade { open.append(reference.child.name) }
            }
        }
        return false
    }

    private func postpone(_ missing: ChangedRows) throws {
        _ = try tellTaken([missing])
        // They may have to step aside before they are deleted.
        try keep(missing)
        let located = missing.located.joined(separator: ", ")
        var postponed = missing
        if let known = progress.postponed[missing.table.name] {
            postponed = known
        } else {
            postponed.name = try workTable(
                "postponed_\(missing.located.count)_\(progress.postponed.count)",
                "\(located), key, PRIMARY KEY (\(located))")
            progress.postponed[missing.table.name] = postponed
        }
        try db.execute(
            cached: "INSERT OR IGNORE INTO \(postponed.name) SELECT \(located), key FROM \(missing.name) ORDER BY rowid"
        )
    }

    /// Deletes the rows of a table whose deletion was postponed.
    ///
    /// - Returns: true if there were any.
    func deletePostponedRows(of table: String) throws -> Bool {
        guard let missing = progress.postponed.removeValue(forKey: table) else { return false }
        try keepRowsThatAreStaged(missing)
        let before = progress.tablesTakenFrom
        progress.tablesTakenFrom = []
        progress.counts +=
            try goneColumn(of: table).map { try mark(missing, as: $0, told: missing) } ?? delete(missing, told: missing)
        progress.tablesTakenFromLate.formUnion(progress.tablesTakenFrom)
        progress.tablesTakenFrom.formUnion(before)
        return true
    }

    /// Keeps rows that turn out to be in the feed. A row may refer to another by a value that has changed. Such a row
    /// can be recognized only once the other row has been merged.
    private func keepRowsThatAreStaged(_ missing: ChangedRows) throws {
        let columns = missing.located.map { "g." + $0 }.joined(separator: ", ")
        for part in stack.parts
        where part.table.table.name == missing.table.name && part.counts.rows > 0 && part.table.identity != .none
            && part.table.isIdentifiedByReference
        {
            let isSame = part.table.isSameRow("s", "m") + (part.table.isTree ? " AND \(hasParents(part.table))" : "")
            try db.execute(
                cached: """
                    DELETE FROM \(missing.name) WHERE (\(missing.located.joined(separator: ", "))) IN (
                        SELECT \(columns) FROM \(missing.name) g
                        CROSS JOIN \(part.table.qualifiedTable) m ON \(missing.isRow("m", "g"))
                        CROSS JOIN \(part.table.qualifiedName) s ON \(isSame))
                    """)
        }
    }

    func deletePostponedRows() throws {
        for table in progress.postponed.keys.sorted() {
            do {
                _ = try deletePostponedRows(of: table)
            } catch let error as DatabaseError where defersForeignKeys || !error.breaksForeignKey {
                throw StoreError(error, in: table)
            }
        }
    }
}

extension DatabaseError {
    /// True if foreign keys lead through more generations of rows than SQLite follows.
    fileprivate var isTooDeep: Bool {
        resultCode == .SQLITE_ERROR && message?.contains("too many levels of trigger recursion") == true
    }
}
