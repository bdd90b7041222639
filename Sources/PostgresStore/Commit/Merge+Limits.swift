import FeedModel
import FeedStaging
import FeedStores
import Foundation
import PostgresClient

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
            try connection.acceptance(of: source, at: now).map { $0.run == nil } ?? false
        }
    }

    private func count(_ rows: ScopedRows) throws -> Int {
        let table = try details(of: rows.table)
        let scope = rows.scope.sorted { $0.key < $1.key }
        let conditions = try scope.enumerated().map { index, entry in
            "\(try table.needed(entry.key).sql) = $\(index + 1)"
        }
        let isThere = try goneColumn(of: table).map { ["\($0) IS NULL"] } ?? []
        return try connection.execute(
            "SELECT count(*) FROM \(table.sql)\((conditions + isThere).whereClause)", scope.map { .text($0.value) })[0]
            .int(0) ?? 0
    }
}
