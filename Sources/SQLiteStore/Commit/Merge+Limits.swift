import FeedModel
import FeedStaging
import FeedStores
import Foundation
import GRDB

/// The limits of what one commit may delete and update.
extension Merge {
    /// Checks what the merge has done against what is allowed. A permission to do more is used up.
    ///
    /// - Throws: ``StoreError`` of the code `held`.
    func check(_ limits: [ScopedRows: ChangeLimits], of source: String, on now: Date) throws {
        try progress.changes.check(limits, source: source) { rows in
            try count(rows)
        } isAccepted: {
            try db.execute(
                cached: "DELETE FROM main.tributary_acceptance WHERE source = ? AND until > ?",
                [source, StoreDate.text(now)])
            return db.changesCount > 0
        }
    }

    private func count(_ rows: ScopedRows) throws -> Int {
        let scope = rows.scope.sorted { $0.key < $1.key }
        let isThere = goneColumn(of: rows.table).map { ["\($0) IS NULL"] } ?? []
        let conditions = (scope.map { "\($0.key.sqlIdentifier) = ?" } + isThere).whereClause
        return try Int.fetchOne(
            db, sql: "SELECT count(*) FROM main.\(rows.table.sqlIdentifier)\(conditions)",
            arguments: StatementArguments(scope.map(\.value))) ?? 0
    }
}
