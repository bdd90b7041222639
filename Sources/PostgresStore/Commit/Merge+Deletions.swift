import FeedModel
import FeedStaging
import FeedStores
import PostgresClient

/// Rows that the feed no longer has.
extension Merge {
    private struct Mirror: Hashable {
        var rows: MirroredRows
        var within: RowShape.Within?
    }

    /// - Parameter late: tables whose missing rows are not known yet.
    func deleteMissingRows(late: Set<String>) throws -> MergeCounts {
        // Children go before their parents.
        try mirrored().filter { !late.contains($0.table.name) }.reversed().reduce(into: try deleteRemovals()) {
            $0 += try deleteMissingRows(of: $1.table, $1.mirror)
        }
    }

    /// Deletes the missing rows of a table when all its staged rows can be told apart.
    func deleteMissingRows(ofLate table: String) throws -> MergeCounts {
        try mirrored().filter { $0.table.name == table }.reversed().reduce(into: MergeCounts()) {
            $0 += try deleteMissingRows(of: $1.table, $1.mirror)
        }
    }

    private func deleteMissingRows(of table: TableDetails, _ mirror: Mirror) throws -> MergeCounts {
        try refusing(in: table.name) {
            guard !stack.keepsAll(mirror.rows),
                let missing = try missingRows(of: table, mirror.rows, within: mirror.within)
            else { return MergeCounts() }
            if let gone = try goneColumn(of: table) { return try mark(missing, as: gone) }
            var counts = try deleteChildren(of: missing, below: [])
            counts += try deleteWhenPossible(missing)
            return counts
        }
    }

    /// Deletes the rows that are mirrored within rows that are to be deleted, and those within these.
    ///
    /// - Parameter outer: the tables of the records around the parents.
    private func deleteChildren(of parents: ChangedRows, below outer: Set<String>) throws -> MergeCounts {
        guard let name = parents.table.primaryKey.first else { return MergeCounts() }
        let key = try parents.table.needed(name)
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
            let details = try details(of: table.table.name)
            let scope = try table.scope.sorted { $0.key < $1.key }.map {
                "m.\(try details.needed($0.key).sql) = \($0.value.postgresLiteral)"
            }
            let column = try details.needed(within.column)
            let conditions = try scope + isNotStaged(details) + isNotSkipped(details, rows)
            let children = try listed(
                details,
                from: """
                    \(parents.name) g JOIN \(parents.table.sql) p ON \(parents.isRow("p", "g"))
                    JOIN \(details.sql) m ON \(column.value("m", comparedWith: key)) = p.\(key.sql)\(conditions.whereClause)
                    """)
            guard let children else { return }
            progress.changes.add(
                deleted: try count(children.name), of: ScopedRows(table: rows.table, scope: rows.scope))
            counts += try deleteChildren(of: children, below: outer)
            counts += try deleteWhenPossible(children)
        }
    }

    /// Deletes rows, or notes that they are to be deleted once others have left them.
    func deleteWhenPossible(_ missing: ChangedRows) throws -> MergeCounts {
        guard try hasStagedChildren(missing.table) || hasPostponedChildren(missing.table.name) else {
            return try delete(missing)
        }
        try postpone(missing)
        return MergeCounts()
    }

    /// Returns what is mirrored, with the tables first to which others refer.
    private func mirrored() throws -> [(mirror: Mirror, table: TableDetails)] {
        var found: [(mirror: Mirror, table: TableDetails)] = []
        var seen: Set<Mirror> = []
        for part in stack.parts where part.table.sync == .mirror {
            let rows = MirroredRows(
                table: part.table.table.name, scope: part.table.scope, window: part.table.window)
            let mirror = Mirror(rows: rows, within: part.table.within)
            if seen.insert(mirror).inserted { found.append((mirror, try details(of: part.table.table.name))) }
        }
        for empty in mirrors {
            guard let table = try tables.table(empty.table) else { continue }
            let mirror = Mirror(rows: MirroredRows(table: table.name, scope: empty.scope, window: empty.window))
            if seen.insert(mirror).inserted { found.append((mirror, table)) }
        }
        var ordered: [(mirror: Mirror, table: TableDetails)] = []
        var visited: Set<String> = []
        func visit(_ table: TableDetails) throws {
            guard visited.insert(table.sql).inserted else { return }
            for parent in found where table.parents.contains(parent.table.oid) { try visit(parent.table) }
            ordered += found.filter { $0.table.sql == table.sql }
        }
        for entry in found { try visit(entry.table) }
        return ordered
    }

    /// Returns the rows that the feed lacks; nil where there are none.
    private func missingRows(
        of table: TableDetails, _ mirrored: MirroredRows, within: RowShape.Within?
    ) throws -> ChangedRows? {
        let scope = mirrored.scope.sorted { $0.key < $1.key }
        var conditions = try scope.enumerated().map { index, entry in
            "m.\(try table.needed(entry.key).name.sqlIdentifier) = $\(index + 1)"
        }
        if let gone = try goneColumn(of: table) { conditions.append("m.\(gone) IS NULL") }
        if let window = mirrored.window { conditions.append(try isInWindow(window, mirrored)) }
        conditions += try isNotExpired(table, mirrored.scope) + isNotStaged(table) + isNotSkipped(table, mirrored)
        if let within { conditions.append(try isChildOfStagedParent(within)) }
        let located = ChangedRows.located(table)
        let missing = try workTable(
            "missing_\(progress.number())", ChangedRows.definition(table, isUnique: false, isNumbered: false))
        let found = try connection.execute(
            """
            INSERT INTO \(missing) (id, \(located.joined(separator: ", ")), key)
            SELECT row_number() OVER (), \(table.locator.map { "m." + $0.sql }.joined(separator: ", ")), \(journalKey(of: table, "m"))
            FROM \(table.sql) m\(conditions.whereClause)
            """, scope.map { .text($0.value) }
        ).affectedRows
        progress.changes.add(deleted: found, of: ScopedRows(table: mirrored.table, scope: mirrored.scope))
        guard found > 0 else { return nil }
        try connection.execute("ANALYZE \(missing)")
        return ChangedRows(table: table, change: .delete, name: missing)
    }

    /// Returns conditions that a row of the store, `m`, is not staged for its table, whichever request it came with.
    private func isNotStaged(_ table: TableDetails) throws -> [String] {
        let parts = stack.parts.filter {
            $0.table.table.name == table.name && $0.counts.rows > 0 && $0.table.identity != .none
        }
        // Where each of many requests has a scope of its own, its rows would be looked for among those of each other.
        let isMany = parts.count > Self.fewParts && Set(parts.map(\.table.keyColumns)).count == 1
        if isMany, case .key(let key, _) = parts[0].table.identity {
            let keys = try stagedKeys(of: parts, key, table)
            let isSame = key.indices.map { "k.k\($0) = m.\(key[$0].sqlIdentifier)" }.joined(separator: " AND ")
            return ["NOT EXISTS (SELECT 1 FROM \(keys) k WHERE \(isSame))"]
        }
        return try parts.map { part in
            let isSame =
                try isSameRow(part.table, "s", "m") + (part.table.isTree ? " AND \(hasParents(part.table))" : "")
            return "NOT EXISTS (SELECT 1 FROM \(part.table.staged) s WHERE \(isSame))"
        }
    }

    /// Returns conditions that a row of the store, `m`, is not that of a record which was left out because of an error.
    private func isNotSkipped(_ table: TableDetails, _ mirrored: MirroredRows) throws -> [String] {
        try stack.skipped(among: mirrored).map { records in
            let columns = try records.key.map { try table.needed($0) }
            let definitions = columns.enumerated().map { "k\($0) \($1.definition)" }.joined(separator: ", ")
            let keys = try workTable("skipped_\(progress.number())", definitions)
            let values = columns.enumerated().map { "v.k\($0)::\($1.typeName)" }.joined(separator: ", ")
            let arrays = columns.indices.map { "$\($0 + 1)::text[]" }.joined(separator: ", ")
            let names = columns.indices.map { "k\($0)" }.joined(separator: ", ")
            try connection.execute(
                "INSERT INTO \(keys) SELECT \(values) FROM unnest(\(arrays)) AS v (\(names))",
                try columns.indices.map { index in
                    .textArray(try PostgresTextArray(records.keys.map(\.[index].postgresText)))
                })
            let isSame = columns.enumerated().map { "k.k\($0) = m.\($1.name.sqlIdentifier)" }
            return "NOT EXISTS (SELECT 1 FROM \(keys) k WHERE \(isSame.joined(separator: " AND ")))"
        }
    }

    /// The most parts of a table that are asked one by one for its staged rows.
    private static let fewParts = 4

    /// Returns the merge's table of all keys, `k0`, `k1` …, that are staged for a table. It is made once.
    private func stagedKeys(of parts: [StagedStack.Part], _ key: [String], _ table: TableDetails) throws -> String {
        if let known = progress.stagedKeys[table.oid] { return known }
        let names = key.indices.map { "k\($0)" }.joined(separator: ", ")
        let columns = try key.enumerated().map { "k\($0) \(try table.needed($1).definition)" }
        let keys = try workTable("keys_\(progress.number())", columns.joined(separator: ", "))
        for part in parts {
            let values = key.map { "s." + $0.sqlIdentifier }.joined(separator: ", ")
            try connection.execute("INSERT INTO \(keys) (\(names)) SELECT \(values) FROM \(part.table.staged) s")
        }
        try connection.executeScript("CREATE INDEX ON \(keys) (\(names)); ANALYZE \(keys)")
        progress.stagedKeys[table.oid] = keys
        return keys
    }

    /// Returns a condition that a row's value is at least the smallest of the feed. False where either has none.
    private func isInWindow(_ window: MirrorWindow, _ mirrored: MirroredRows) throws -> String {
        let table = window.parents.last?.table ?? mirrored.table
        let name = window.column.lowercased()
        let row = window.parents.isEmpty ? "m" : "p\(window.parents.count)"
        let isInFeed = try stack.parts.filter {
            $0.table.sync == .mirror && $0.counts.rows > 0
                && $0.table.table.name.lowercased() == table.lowercased()
                && $0.table.scope == mirrored.scope && $0.table.window?.column.lowercased() == name
                && $0.table.window?.parents.isEmpty ?? false
        }.map { part in
            let details = try details(of: part.table.table.name).needed(window.column)
            let (stored, staged) = ("\(row).\(details.name.sqlIdentifier)", "s.\(details.name.sqlIdentifier)")
            func least(_ value: String) -> String { "SELECT min(\(value)) FROM \(part.table.staged) s" }
            guard details.category == "S" else { return "\(stored) >= (\(least(staged)))" }
            return TimeText.postgres(stored, isAtLeastTheSmallestOf: staged, least)
        }
        guard !isInFeed.isEmpty else { return "false" }
        var condition = "(\(isInFeed.joined(separator: " OR ")))"
        var child = mirrored.table
        var columns: [ColumnDetails] = []
        for parent in window.parents {
            guard let table = try tables.table(child) else { return "false" }
            columns.append(try table.needed(parent.column))
            child = parent.table
        }
        for (index, parent) in window.parents.enumerated().reversed() {
            guard let info = try tables.table(parent.table), info.primaryKey.count == 1 else { return "false" }
            let alias = "p\(index + 1)"
            let key = try info.needed(info.primaryKey[0])
            condition = """
                \(columns[index].value(index == 0 ? "m" : "p\(index)", comparedWith: key)) IN (
                    SELECT \(alias).\(key.sql) FROM \(info.sql) \(alias) WHERE \(condition))
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
        let deletion = "DELETE FROM \(missing.table.sql) m USING \(missing.name) g WHERE \(missing.isRow("m", "g"))"
        guard taken.isEmpty else {
            try connection.execute(deletion)
            try tellUpdated()
            return try note(taken, besides: try count(missing.name))
        }
        var counts = MergeCounts()
        counts.deleted = try journaled(deletion + " RETURNING g.key, g.id", missing.table.name, "delete", order: "id")
        return counts
    }
}
