import FeedModel
import FeedStaging

/// The transaction that deletes the rows which only one source has written, and the source's state.
///
/// The changelog names the rows that each source has written. Rows of a scope that only this source mirrors are its
/// own, even if the changelog no longer names them. Rows that another source has written too stay, by whichever key it
/// names them; so do rows that another one mirrors, and rows without an entry.
package struct PurgeTransaction {
    /// A table with the rows of it that are deleted.
    private struct Target {
        var table: StoredTable
        var rows: RowList
        var report: PurgedTable
    }

    /// The keys of the changelog: a work table with the `name` of the table, the `key`, whether the source (`own`) and
    /// other sources (`others`) have written the row, and whether the last change has left it (`stays`), as 0 or 1.
    private struct Written {
        var name: String
        var dialect: any SQLDialect

        /// Returns a condition that the changelog names a row, `m`.
        ///
        /// - Parameters:
        ///   - keys: the columns of each key by which it may name the row.
        ///   - condition: a further condition on the key.
        func contains(_ table: StoredTable, _ keys: [[String]], _ condition: String = "1 = 1") -> String {
            let named = keys.map { key in
                dialect.isKey(
                    dialect.changelogKey(key, of: table, "m"),
                    among: "SELECT key FROM \(name) WHERE \(isOf(table)) AND \(condition)")
            }
            return named.isEmpty ? "1 = 0" : "(\(named.joinedConditions("OR")))"
        }

        /// Returns a query for rows that are there according to other sources, and which none of their keys names.
        func unnamed(_ table: StoredTable, _ keys: [[String]]) -> String {
            let isUnnamed = keys.map { key in
                let name = dialect.changelogKey(key, of: table, "m")
                return "NOT \(dialect.isKey("n.key", among: "SELECT \(name) AS key FROM \(table.sql) m"))"
            }
            let conditions = [isOf(table), "others = 1", "stays = 1"] + isUnnamed
            return "SELECT 1 FROM \(name) n WHERE \(conditions.joinedConditions("AND"))"
        }

        private func isOf(_ table: StoredTable) -> String { "name = \(dialect.literal(table.name))" }
    }

    private let purge: Purge
    private let merge: MergeContext
    private let ledger: Ledger
    private let claims: CommitClaims
    private var driver: any MergeDriver { merge.driver }
    private var dialect: any SQLDialect { merge.dialect }

    package init(_ purge: Purge, _ driver: any MergeDriver, _ ledger: Ledger, _ claims: CommitClaims) {
        self.purge = purge
        self.ledger = ledger
        self.claims = claims
        merge = driver.merge().context
    }

    /// Deletes the rows, and records that as a run.
    ///
    /// - Throws: ``StoreError`` naming rows that refer to those to be deleted, and the errors of the database.
    package func execute(as run: RecordedRun) throws -> PurgeReport {
        try driver.begin(merge)
        let names = try ledger.changelog.tables(of: purge.source).union(purge.mirrored.map(\.table))
        try driver.lock(tables(named: names))
        // Only now nobody else can write to these tables, and log it.
        let tables = try tables(named: names)
        let written = try readChangelog(of: tables)
        let targets = try tables.enumerated().map { try target($1, number: $0, written) }
        for target in targets { try checkChildren(of: target, among: targets) }
        var report = PurgeReport(run: purge.commit.report)
        report.lastCommit = try ledger.runs.commits(of: purge.source, after: 0).last?.number ?? 0
        for target in targets {
            var table = target.report
            defer { report.add(table) }
            guard table.deleted > 0 else { continue }
            // A trigger may keep some.
            table.deleted = try Deletions(merge: merge).delete(target.rows).deleted
            // Others that may have written the rows send them again.
            let writers = try claims.requests(of: target.table.name)
            try ledger.requests.forgetValidators(of: Set(writers))
            report.refetched.formUnion(writers.map(\.source).filter { $0 != purge.source })
        }
        if let shown = purge.shown, shown != report.digest {
            throw StoreError(.history, "the store has changed since the deletions were shown; nothing is deleted")
        }
        try driver.checkConstraints()
        try driver.end()
        var commit = purge.commit
        commit.report = report.run
        try ledger.write(commit, run: run)
        try ledger.sources.forget(purge.source)
        try ledger.sources.makeDue(report.refetched.sorted(), now: commit.report.startedAt)
        return report
    }

    /// Returns the existing tables, children before their parents.
    private func tables(named names: Set<String>) throws -> [StoredTable] {
        let found = try names.compactMap { try driver.table($0) }.filter {
            $0.kind.isTable && !$0.locator.isEmpty
        }
        let tables = Dictionary(found.map { ($0.id, $0) }) { first, _ in first }.values.sorted { $0.name < $1.name }
        let places = Dictionary(uniqueKeysWithValues: tables.enumerated().map { ($1.id, $0) })
        return tables.ordered { table in table.parents.compactMap { places[$0] }.sorted() }.reversed()
    }

    private func readChangelog(of tables: [StoredTable]) throws -> Written {
        let names = tables.map { dialect.literal($0.name) }.joined(separator: ", ")
        let isOwn = "r.source = \(dialect.literal(purge.source))"
        let name = try driver.makeTable(
            "written",
            of: """
                SELECT c."table" AS name, c.key AS key, max(CASE WHEN \(isOwn) THEN 1 ELSE 0 END) AS own,
                    max(CASE WHEN \(isOwn) THEN 0 ELSE 1 END) AS others,
                    CASE WHEN max(CASE WHEN c.operation = 'delete' THEN 0 ELSE c.id END)
                        > max(CASE WHEN c.operation = 'delete' THEN c.id ELSE 0 END) THEN 1 ELSE 0 END AS stays
                FROM \(dialect.changelog) c JOIN \(dialect.runs) r ON r.id = c.run
                WHERE c."table" IN (\(names.isEmpty ? "NULL" : names)) GROUP BY c."table", c.key
                """)
        try driver.analyze(name)
        return Written(name: name, dialect: dialect)
    }

    private func target(_ table: StoredTable, number: Int, _ written: Written) throws -> Target {
        let keys = try ownKeys(of: table, written)
        let otherKeys = try otherKeys(of: table, written)
        let own = written.contains(table, keys, "own = 1")
        let kept = scopes(purge.kept, of: table).map { $0.isEmpty ? "1 = 1" : "(\($0.joinedConditions("AND")))" }
        let others = "(\(([written.contains(table, otherKeys, "others = 1")] + kept).joinedConditions("OR")))"
        let rows = try merge.makeList("purged_\(number)", of: table, .delete)
        let scopes = scopes(purge.mirrored, of: table)
        // One after the other: a database joins what all rows must fulfil, and looks up what some must.
        for conditions in [[own]] + scopes {
            let condition = (conditions + ["NOT \(others)"]).joinedConditions("AND")
            try driver.execute(
                dialect.append(
                    to: rows, rows.located + ["key"],
                    "\(table.locators("m")), \(dialect.changelogKey(keys.first ?? table.primaryKey, of: table, "m"))",
                    from: "\(table.sql) m WHERE \(condition)", order: nil
                ).once)
        }
        try driver.analyze(rows.name)
        var report = PurgedTable(name: table.name)
        report.deleted = try merge.count(rows.name)
        let rest = "\(table.sql) m WHERE NOT \(isListed("m", in: rows))"
        report.shared = try merge.count("\(rest) AND \(own) AND \(others)")
        report.unknown = try merge.count("\(rest) AND NOT \(written.contains(table, keys + otherKeys))")
        report.lacksKey = keys.isEmpty
        return Target(table: table, rows: rows, report: report)
    }

    /// Returns the conditions that a row, `m`, of a table is among rows of a scope, for each scope.
    private func scopes(_ rows: [ScopedRows], of table: StoredTable) -> [[String]] {
        rows.filter { $0.table.lowercased() == table.name.lowercased() }.compactMap { rows in
            let isInScope = rows.scope.sorted { $0.key < $1.key }.compactMap { name, value in
                table.column(name).map { "m.\($0.sql) = \(dialect.literal(value))" }
            }
            return isInScope.count == rows.scope.count ? isInScope : nil
        }
    }

    /// Returns the columns of the keys by which the changelog names the source's rows of a table: the declared ones, or
    /// else the only key that it uses. None if that is uncertain, and for rows that were identified by their locator,
    /// which another row may have by now.
    private func ownKeys(of table: StoredTable, _ written: Written) throws -> [[String]] {
        let declared = declaredKeys(of: table) { $0 == purge.source }.filter { !$0.isEmpty }
        guard declared.isEmpty else { return declared }
        let keys = keys(of: table)
        guard keys.count > 1 else { return keys }
        let logged = try keys.filter { key in
            let isWritten = written.contains(table, [key], "own = 1")
            return try driver.isTrue("SELECT EXISTS (SELECT 1 FROM \(table.sql) m WHERE \(isWritten))")
        }
        return logged.count == 1 ? logged : []
    }

    /// Returns the columns of the keys by which the changelog may name other sources' rows of a table: the declared
    /// ones. If these find no row for an entry, its source has another declaration by now, or none, and any key of the
    /// table may be meant.
    private func otherKeys(of table: StoredTable, _ written: Written) throws -> [[String]] {
        let declared = declaredKeys(of: table) { $0 != purge.source }
        guard try driver.isTrue("SELECT EXISTS (\(written.unnamed(table, declared)))") else { return declared }
        let all = declared + declaredKeys(of: table) { $0 == purge.source } + keys(of: table) + [table.primaryKey]
        return all.enumerated().filter { all.firstIndex(of: $0.element) == $0.offset }.map(\.element)
    }

    private func declaredKeys(of table: StoredTable, by isWanted: (String) -> Bool) -> [[String]] {
        purge.keys.keys(of: table.name).filter { isWanted($0.source) }.compactMap { key in
            let columns = key.columns.compactMap { table.column($0)?.name }
            guard columns.count == key.columns.count else { return nil }
            return columns.isEmpty ? table.primaryKey : columns
        }
    }

    /// Returns the columns of the store's keys of a table, the primary key first.
    private func keys(of table: StoredTable) -> [[String]] {
        let primary = table.primaryKey
        let indexes = table.uniqueIndexes.filter { Set($0) != Set(primary) }
        return (primary.isEmpty ? [] : [primary]) + indexes
    }

    private func isListed(_ row: String, in rows: RowList) -> String {
        "EXISTS (SELECT 1 FROM \(rows.name) g WHERE \(dialect.isListed(rows, row, "g")))"
    }

    /// Checks that no row stays that refers to one which is deleted.
    private func checkChildren(of target: Target, among targets: [Target]) throws {
        guard target.report.deleted > 0 else { return }
        for key in target.table.children {
            guard let child = try driver.table(id: key.child) else { continue }
            let refers = try zip(key.targets, key.columns).map { name, column in
                let parent = try target.table.needed(name)
                return "p.\(parent.sql) = \(try dialect.value(of: child.needed(column), "c", comparedWith: parent))"
            }
            let isDeleted = (refers + [isListed("p", in: target.rows)]).joinedConditions("AND")
            let stays = targets.first { $0.table.id == child.id }.map { " AND NOT \(isListed("c", in: $0.rows))" }
            let rows = try merge.count(
                "\(child.sql) c WHERE EXISTS (SELECT 1 FROM \(target.table.sql) p WHERE \(isDeleted))\(stays ?? "")")
            guard rows == 0 else {
                throw StoreError(
                    .constraint,
                    "\(rows) rows of table '\(child.name)', which are not only \(purge.source)'s, refer by "
                        + "(\(key.columns.joined(separator: ", "))) to rows of table '\(target.table.name)' that would be "
                        + "deleted; nothing was purged: delete these rows or let them refer elsewhere, or purge the source "
                        + "that wrote them first")
            }
        }
    }
}
