import FeedModel
package import FeedStaging

/// The conditions under which a feed lacks a row of the store, `m`.
struct MissingRows {
    let merge: MergeContext
    let table: StoredTable

    /// The most parts of a table that are searched one by one for its staged rows.
    private static let fewParts = 4

    /// Returns conditions that a row is not staged for its table, whichever request it came with.
    func isNotStaged() throws -> [String] {
        let parts = merge.stack.parts.filter {
            $0.table.table.name == table.name && $0.counts.rows > 0 && $0.table.identity != .none
        }
        // Where each of many requests has a scope of its own, its rows would be looked for among those of each other.
        let isMany = parts.count > Self.fewParts && parts.allSatisfy { $0.table.identity == parts[0].table.identity }
        if isMany, case .key(let key, _) = parts[0].table.identity {
            return [isNone(of: try stagedKeys(of: parts, key), key)]
        }
        return try parts.map { part in
            try merge.indexForLookUps(part)
            return "NOT \(merge.dialect.isStaged(part.table, table))"
        }.sorted()
    }

    /// Returns conditions that a row is not that of a record which was left out because of an error.
    func isNotSkipped(_ mirrored: MirroredRows) throws -> [String] {
        try merge.stack.skipped(among: mirrored).map { records in
            let columns = try records.key.map { try table.needed($0) }
            let keys = try merge.driver.makeTable(
                merge.uniqueName("skipped"), merge.dialect.keysDefinition(columns, of: nil, columns: []))
            let names = columns.indices.map { "k\($0)" }.joined(separator: ", ")
            // PostgreSQL takes 65,535 values in one statement, SQLite 32,766.
            let rows = 30_000 / columns.count
            for start in stride(from: 0, to: records.keys.count, by: rows) {
                let values = records.keys[start..<min(start + rows, records.keys.count)].map { key in
                    "(\(SQLText(binding: zip(columns, key).map { merge.dialect.bound($1, for: $0) })))" as SQLText
                }
                try merge.driver.execute(
                    merge.dialect.insertNew(into: keys, names, "VALUES \(values.joined(separator: ", "))").once)
            }
            return isNone(of: keys, records.key)
        }
    }

    /// Returns conditions that no row of a table whose mirrors keep all rows is below a row, at any depth: the deletion would
    /// take it along, or be refused.
    func hasNoKeptRowsBelow() throws -> [String] {
        guard merge.stack.skipped.contains(where: { $0.unknown > 0 }) else { return [] }
        return try keptRows(below: table, "m", [table.id]).map { "NOT \($0)" }
    }

    /// - Parameters:
    ///   - alias: the name of the parent's row.
    ///   - path: the tables from the mirrored one to the parent, which cycles of foreign keys end at.
    private func keptRows(below parent: StoredTable, _ alias: String, _ path: Set<TableID>) throws -> [String] {
        try parent.children.flatMap { key -> [String] in
            guard key.onDelete != .setNull, key.onDelete != .setDefault, !path.contains(key.child),
                let child = try merge.driver.table(id: key.child)
            else { return [] }
            let name = "c\(path.count)"
            let isChild = try zip(key.columns, key.targets).map { column, target in
                let target = try parent.needed(target)
                return
                    "\(try merge.dialect.value(of: child.needed(column), name, comparedWith: target)) = \(alias).\(target.sql)"
            }
            let start = "EXISTS (SELECT 1 FROM \(child.sql) \(name) WHERE "
            if merge.stack.keepsAll(of: child.name) { return [start + isChild.joinedConditions("AND") + ")"] }
            return try keptRows(below: child, name, path.union([child.id])).map {
                start + (isChild + [$0]).joinedConditions("AND") + ")"
            }
        }
    }

    private func isNone(of keys: String, _ key: [String]) -> String {
        let isSame = key.enumerated().map { "k.k\($0) = m.\($1.sqlIdentifier)" }.joinedConditions("AND")
        return "NOT EXISTS (SELECT 1 FROM \(keys) k WHERE \(isSame))"
    }

    /// Returns the table of all keys, `k0`, `k1` …, that are staged for the table. It is made once.
    private func stagedKeys(of parts: [StagedStack.Part], _ key: [String]) throws -> String {
        if let known = merge.state.stagedKeys[table.id] { return known }
        let names = key.indices.map { "k\($0)" }.joined(separator: ", ")
        let columns = try key.map { try table.needed($0) }
        let keys = try merge.driver.makeTable(
            merge.uniqueName("keys"), merge.dialect.keysDefinition(columns, of: parts[0].table, columns: []))
        for part in parts {
            let values = key.map { "s." + $0.sqlIdentifier }.joined(separator: ", ")
            try merge.driver.execute(
                merge.dialect.insertNew(
                    into: keys, names, "SELECT \(values) FROM \(merge.dialect.staged(part.table)) s WHERE true"))
        }
        try merge.driver.analyze(keys)
        merge.state.stagedKeys[table.id] = keys
        return keys
    }

    /// Returns conditions that a row is not left to its expiry.
    func isNotExpired(_ scope: [String: String]) throws -> [String] {
        try merge.retention.expiries.filter { $0.table.lowercased() == table.name.lowercased() && $0.scope == scope }
            .compactMap { try merge.dialect.hasExpired($0, table, "m") }.map { "(\($0)) IS NOT TRUE" }
    }

    /// Returns a condition that a row's value is at least the smallest of the feed. False if either has none.
    func isInWindow(_ window: MirrorWindow, _ mirrored: MirroredRows) throws -> String {
        let never = merge.dialect.literal(false)
        let outermost = window.parents.last?.table ?? mirrored.table
        let name = window.column.lowercased()
        let row = window.parents.isEmpty ? "m" : "p\(window.parents.count)"
        let isInFeed = try merge.stack.parts.filter {
            $0.table.sync == .mirror && ($0.counts.rows > 0 || merge.state.expired[$0.table.name] != nil)
                && $0.table.table.name.lowercased() == outermost.lowercased()
                && $0.table.scope == mirrored.scope && $0.table.window?.column.lowercased() == name
                && $0.table.window?.parents.isEmpty ?? false
        }.flatMap { part in
            let stored = try merge.table(of: part.table)
            let column = try stored.needed(window.column)
            let conditions = ([merge.dialect.staged(part.table)] + (merge.state.expired[part.table.name] ?? [])).map {
                merge.dialect.isAtLeastTheSmallest("\(row).\(column.sql)", column, of: $0)
            }
            guard !window.parents.isEmpty, let key = stored.primaryKey.first.flatMap(stored.column) else {
                return conditions
            }
            // A parent that the feed has is in its window, whatever value the stored one has.
            let staged = merge.dialect.stagedAndStored(part.table, stored)
            return conditions + ["\(row).\(key.sql) IN (SELECT m.\(key.sql) FROM \(staged))"]
        }.sorted()
        guard !isInFeed.isEmpty else { return never }
        var condition = "(\(isInFeed.joined(separator: " OR ")))"
        var child: StoredTable = table
        var columns: [StoredTable.Column] = []
        for parent in window.parents {
            columns.append(try child.needed(parent.column))
            guard let next = try merge.driver.table(parent.table) else { return never }
            child = next
        }
        for (index, parent) in window.parents.enumerated().reversed() {
            guard let stored = try merge.driver.table(parent.table), stored.primaryKey.count == 1 else { return never }
            let alias = "p\(index + 1)"
            let key = try stored.needed(stored.primaryKey[0])
            condition = """
                \(merge.dialect.value(of: columns[index], index == 0 ? "m" : "p\(index)", comparedWith: key)) IN (
                    SELECT \(alias).\(key.sql) FROM \(stored.sql) \(alias) WHERE \(condition))
                """
        }
        return condition
    }
}

extension MergeContext {
    /// Indexes the key of staged rows, if it ascends and therefore has no index yet.
    package func indexForLookUps(_ part: StagedStack.Part) throws {
        if part.counts.hasAscendingKeys { try driver.indexIdentity(of: part) }
    }
}
