import FeedModel
import FeedStaging
import FeedStores
import GRDB

/// Rows that the feed no longer has.
extension Merge {
    private struct Mirror: Hashable {
        var rows: MirroredRows
        var within: RowShape.Within?
    }

    /// - Parameter late: tables whose missing rows are not known yet.
    func deleteMissingRows(late: Set<String>) throws -> MergeCounts {
        // A child that is mirrored within its parents is deleted before them.
        try mirrored().filter { !late.contains($0.info.name) }.reversed().reduce(into: try deleteRemovals()) {
            $0 += try deleteMissingRows(of: $1.info, $1.mirror)
        }
    }

    /// Deletes the missing rows of a table when all its staged rows can be told apart.
    func deleteMissingRows(ofLate table: String) throws -> MergeCounts {
        try mirrored().filter { $0.info.name == table }.reversed().reduce(into: MergeCounts()) {
            $0 += try deleteMissingRows(of: $1.info, $1.mirror)
        }
    }

    private func deleteMissingRows(of table: TableInfo, _ mirror: Mirror) throws -> MergeCounts {
        guard !stack.keepsAll(mirror.rows), let missing = try missingRows(of: table, mirror.rows, within: mirror.within)
        else { return MergeCounts() }
        if let gone = goneColumn(of: table.name) { return try mark(missing, as: gone) }
        var counts = try deleteChildren(of: missing, below: [])
        counts += try deleteWhenPossible(missing)
        return counts
    }

    /// Deletes the rows that are mirrored within rows that are to be deleted, and those within these.
    ///
    /// - Parameter outer: the tables of the records around the parents.
    private func deleteChildren(of parents: ChangedRows, below outer: Set<String>) throws -> MergeCounts {
        guard let key = parents.table.primaryKey.first?.sqlIdentifier else { return MergeCounts() }
        let late = stack.tablesIdentifiedLate
        let outer = outer.union([parents.table.name])
        var seen: Set<Mirror> = []
        return try stack.parts.reduce(into: MergeCounts()) { counts, part in
            let table = part.table
            let rows = MirroredRows(table: table.table.name, scope: table.scope)
            guard let within = table.within, within.parent == parents.table.name, !outer.contains(table.table.name),
                !late.contains(table.table.name),
                seen.insert(Mirror(rows: rows, within: within)).inserted
            else { return }
            let scope = table.scope.sorted { $0.key < $1.key }.map {
                "m.\($0.key.sqlIdentifier) = \($0.value.sqlLiteral)"
            }
            let conditions = try scope + isNotStaged(table.table) + isNotSkipped(table.table, rows)
            let children = try listed(
                table.table,
                from: """
                    \(parents.name) g CROSS JOIN main.\(parents.table.name.sqlIdentifier) p ON \(parents.isRow("p", "g"))
                    CROSS JOIN \(table.qualifiedTable) m ON m.\(within.column.sqlIdentifier) = p.\(key)\(conditions.whereClause)
                    """)
            guard let children else { return }
            progress.changes.add(
                deleted: try count(children.name), of: ScopedRows(table: rows.table, scope: rows.scope))
            counts += try deleteChildren(of: children, below: outer)
            counts += try deleteWhenPossible(children)
        }
    }

    /// Returns what is mirrored, in the order of the stack.
    private func mirrored() throws -> [(mirror: Mirror, info: TableInfo)] {
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
        return found
    }

    /// Deletes rows, or notes that they are to be deleted once others have left them.
    func deleteWhenPossible(_ missing: ChangedRows) throws -> MergeCounts {
        guard try hasStagedChildren(missing.table) || hasPostponedChildren(missing.table.name) else {
            return try delete(missing)
        }
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
            + isNotExpired(table, mirrored.scope) + isNotStaged(table) + isNotSkipped(table, mirrored)
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

    /// Returns conditions that a row of the store, `m`, is not that of a record which was left out because of an error.
    private func isNotSkipped(_ table: TableInfo, _ mirrored: MirroredRows) throws -> [String] {
        try stack.skipped(among: mirrored).map { records in
            let comparisons = try db.comparisons(of: Set(records.key.map { $0.lowercased() }), in: table.name)
            let columns = records.key.indices.map { index in
                let name = records.key[index]
                return "k\(index) \(table.column(name)?.stagedType ?? "BLOB") "
                    + "COLLATE \(comparisons[name.lowercased()]?.collation ?? "BINARY")"
            }
            let names = records.key.indices.map { "k\($0)" }.joined(separator: ", ")
            let definition = columns.joined(separator: ", ") + ", PRIMARY KEY (\(names))"
            let keys = try workTable("skipped_\(Fingerprint.hexadecimal(table.name + definition))", definition)
            let marks = records.key.map { _ in "?" }.joined(separator: ", ")
            let insertion = "INSERT OR IGNORE INTO \(keys) VALUES (\(marks))"
            for key in records.keys { try db.execute(cached: insertion, StatementArguments(key.map(\.databaseValue))) }
            progress.tablesToEmpty.append(keys)
            let isSame = records.key.indices.map { "k.k\($0) = m.\(records.key[$0].sqlIdentifier)" }
            return "NOT EXISTS (SELECT 1 FROM \(keys) k WHERE \(isSame.joinedConditions("AND")))"
        }
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
            TimeText.sqlite("\(row).\(column)", isAtLeastTheSmallestOf: "s.\(column)") {
                "SELECT min(\($0) COLLATE \(collation)) FROM \(part.table.qualifiedName) s"
            }
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
        let deleted = db.changesCount
        let own = try Int.fetchOne(db.cachedStatement(sql: "SELECT count(*) FROM \(missing.name)")) ?? 0
        // A trigger may keep some.
        let isWhole = deleted == own
        guard taken.isEmpty else {
            try tellUpdated()
            return try note(taken, besides: own, isWhole: isWhole)
        }
        try writeJournal(
            missing.table.name, key: "g.key", operation: "delete",
            from: "\(missing.name) g\(isWhole ? "" : isGone(missing)) ORDER BY g.rowid")
        return MergeCounts(deleted: deleted)
    }

    /// Returns a WHERE clause for the listed rows, `g`, that the store no longer has.
    func isGone(_ rows: ChangedRows) -> String {
        let table = "main.\(rows.table.name.sqlIdentifier)"
        return " WHERE NOT EXISTS (SELECT 1 FROM \(table) m WHERE \(rows.isRow("m", "g")))"
    }
}

extension DatabaseError {
    /// True if foreign keys lead through more generations of rows than SQLite follows.
    fileprivate var isTooDeep: Bool {
        resultCode == .SQLITE_ERROR && message?.contains("too many levels of trigger recursion") == true
    }
}

extension StoredValue {
    fileprivate var databaseValue: DatabaseValue {
        switch self {
        case .null: .null
        case .integer(let number): number.databaseValue
        case .real(let number): number.databaseValue
        case .text(let text): text.databaseValue
        case .blob(let data): data.databaseValue
        }
    }
}
