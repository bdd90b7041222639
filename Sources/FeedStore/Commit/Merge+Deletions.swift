import GRDB

/// Rows that the feed no longer has.
extension Merge {
    func deleteMissingRows() throws -> Int {
        struct Mirror: Hashable {
            var table: String
            var scope: [String: String]
            var within: RowShape.Within?
        }
        var found: [(mirror: Mirror, info: TableInfo)] = []
        var seen: Set<Mirror> = []
        for part in stack.parts where part.table.sync == .mirror {
            let mirror = Mirror(
                table: part.table.table.name, scope: part.table.scope, within: part.table.within)
            if seen.insert(mirror).inserted { found.append((mirror, part.table.table)) }
        }
        for empty in mirrors {
            let staged = stack.parts.first { $0.table.table.name == empty.table }?.table.table
            guard let info = try staged ?? TableInfo(db, table: empty.table, schema: "main"),
                seen.insert(Mirror(table: info.name, scope: empty.scope)).inserted
            else { continue }
            let mirror = Mirror(table: info.name, scope: empty.scope)
            found.append((mirror, info))
        }
        // A child mirrored within its parents goes before them.
        return try found.reversed().reduce(0) {
            try $0 + deleteMissingRows(of: $1.info, scope: $1.mirror.scope, within: $1.mirror.within)
        }
    }

    private func deleteMissingRows(
        of table: TableInfo, scope: [String: String], within: RowShape.Within?
    ) throws -> Int {
        let name = "main.\(table.name.sqlIdentifier)"
        let locator = table.rowID.map { [$0] } ?? table.primaryKey.map(\.sqlIdentifier)
        let located = locator.indices.map { "k\($0)" }
        // Every row staged for the table is one that the feed has, whatever request it came with.
        let kept = stack.parts.filter { $0.table.table.name == table.name && $0.counts.rows > 0 }.map { part in
            let isSame = part.table.isSameRow("s", "m") + (isTree(part) ? " AND \(hasParents(part.table))" : "")
            return "NOT EXISTS (SELECT 1 FROM \(part.table.qualifiedName) s WHERE \(isSame))"
        }.sorted()
        let scope = scope.sorted { $0.key < $1.key }
        let conditions =
            scope.map { "m.\($0.key.sqlIdentifier) = ?" } + kept + (within.map { [isChildOfStagedParent($0)] } ?? [])
        let missing = try workTable(
            "missing_\(located.count)", "\(located.joined(separator: ", ")), key")
        try db.execute(
            cached: """
                INSERT INTO \(missing) SELECT \(locator.map { "m." + $0 }.joined(separator: ", ")), \(table.journalKey("m", among: stack))
                FROM \(name) m\(conditions.whereClause)
                """, StatementArguments(scope.map(\.value)))
        guard db.changesCount > 0 else { return 0 }
        if let onChange {
            let gone = try Row.fetchCursor(
                db,
                sql: """
                    SELECT * FROM \(name) WHERE (\(locator.joined(separator: ", "))) IN (
                        SELECT \(located.joined(separator: ", ")) FROM \(missing))
                    """)
            while let row = try gone.next() {
                try onChange(
                    PlannedChange(
                        table: table.name, operation: .delete, row: row.map { ($0.0, $0.1) }, key: table.primaryKey))
            }
        }
        try db.execute(
            cached: """
                DELETE FROM \(name) WHERE (\(locator.joined(separator: ", "))) IN (
                    SELECT \(located.joined(separator: ", ")) FROM \(missing))
                """)
        let deleted = db.changesCount
        try writeJournal(table.name, key: "g.key", operation: "delete", from: "\(missing) g ORDER BY g.rowid")
        return deleted
    }
}
