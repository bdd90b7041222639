import FeedModel
import FeedStaging
import FeedStores
import Foundation
import GRDB

/// The limits of what one commit may delete and update.
extension Merge {
    /// Checks what the merge has done against what is allowed.
    ///
    /// - Parameter accepted: what the blocked run would have done that was accepted; nil where none was.
    /// - Throws: ``StoreError`` of the code `held`.
    func check(
        _ limits: [ScopedRows: ChangeLimits], accepted: [ExceededLimit]? = nil, of source: String, on now: Date
    ) throws {
        try progress.changes.check(limits, accepted: accepted) { rows in
            try count(rows)
        } isAcceptedInAdvance: {
            try db.acceptance(of: source, at: now).map { $0.run == nil } ?? false
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
