import FeedModel
import FeedStaging
import FeedStores
import Foundation
import PostgresClient

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
            let accepted = try connection.execute(
                "DELETE FROM tributary_acceptance WHERE source = $1 AND until > $2",
                [.text(source), PostgresDate.value(now)])
            if accepted.affectedRows == 0 { throw error }
        }
    }

    private func count(_ rows: ScopedRows) throws -> Int {
        let table = try details(of: rows.table)
        let scope = rows.scope.sorted { $0.key < $1.key }
        let conditions = try scope.enumerated().map { index, entry in
            "\(try table.needed(entry.key).sql) = $\(index + 1)"
        }
        return try connection.execute(
            "SELECT count(*) FROM \(table.sql)\(conditions.whereClause)", scope.map { .text($0.value) })[0].int(0) ?? 0
    }
}
