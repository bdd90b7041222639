import FeedModel
import FeedStaging
import FeedStores
import Foundation
import GRDB

/// The limits of what one commit may delete and update.
extension Merge {
    /// Counts what the merge does to the scope of a part.
    func count(inserted: Int, updated: Int = 0, unchanged: Int = 0, of part: StagedStack.Part) {
        progress.changes.add(
            inserted: inserted, updated: updated, unchanged: unchanged,
            of: ScopedRows(table: part.table.table.name, scope: part.table.scope))
    }

    /// Checks what the merge has done against what is allowed. A permission to do more is used up.
    ///
    /// - Throws: ``StoreError`` of the code `held`.
    func check(_ limits: [ScopedRows: ChangeLimits], of source: String, on now: Date) throws {
        do {
            try progress.changes.check(limits, source: source) { try count($0) }
        } catch let error as StoreError where error.code == .held {
            try db.execute(
                cached: "DELETE FROM main.tributary_acceptance WHERE source = ? AND until > ?",
                [source, StoreDate.text(now)])
            if db.changesCount == 0 { throw error }
        }
    }

    private func count(_ rows: ScopedRows) throws -> Int {
        let scope = rows.scope.sorted { $0.key < $1.key }
        let conditions = scope.map { "\($0.key.sqlIdentifier) = ?" }.whereClause
        return try Int.fetchOne(
            db, sql: "SELECT count(*) FROM main.\(rows.table.sqlIdentifier)\(conditions)",
            arguments: StatementArguments(scope.map(\.value))) ?? 0
    }
}
