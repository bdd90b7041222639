import FeedModel
import FeedStaging
import FeedStores
import GRDB

extension HistoryForgetting {
    /// Deletes entries of runs that are forgotten from some histories, a bounded number, and histories that have ended and
    /// are empty.
    func forget(_ commit: Commit, _ db: Database) throws {
        let counts = commit.report.counts
        var budget = max(HistoryTable.forgottenAtOnce, 2 * (counts.inserted + counts.updated + counts.deleted))
        for name in try next(before: commit.forgetBefore, { try HistoryTable.all(db) }) {
            guard budget > 0 else {
                isUnfinished(name)
                continue
            }
            // Somebody may have dropped it.
            guard try db.tableExists(name, in: "main") else { continue }
            let table = "main.\(name.sqlIdentifier)"
            let row = try Row.fetchOne(
                db,
                sql: """
                    SELECT \(HistoryTable.id), \(HistoryTable.run), (SELECT min(id) FROM main.tributary_run)
                    FROM \(table) ORDER BY \(HistoryTable.id) LIMIT 1
                    """)
            guard let row else {
                if HistoryTable.isFormer(name) { try db.execute(sql: "DROP TABLE \(table)") }
                continue
            }
            let (oldest, run, first): (Int64, Int64, Int64) = (row[0], row[1], row[2] ?? .max)
            guard run < first else { continue }
            try db.execute(
                sql: "DELETE FROM \(table) WHERE \(HistoryTable.id) < ? AND \(HistoryTable.run) < ?",
                arguments: [oldest + Int64(budget), first])
            budget -= db.changesCount
            isUnfinished(name)
        }
    }
}

extension HistoryTable {
    /// Returns the names of all histories, also of tables that are gone, and of those that have ended.
    static func all(_ db: Database) throws -> [String] {
        let isHistory = HistoryTable.patterns.map { "name LIKE \($0.sqlLiteral) ESCAPE '\\'" }
        return try String.fetchAll(
            db,
            sql: """
                SELECT name FROM main.sqlite_schema WHERE type = 'table' AND (\(isHistory.joined(separator: " OR ")))
                ORDER BY name
                """
        ).filter(HistoryTable.isHistory)
    }
}
