package import FeedModel
package import FeedStores
package import Foundation
import FeedStaging
import GRDB

/// Permissions to exceed the limits of changes.
extension SQLiteStore {
    package func blockedRun(of source: String) throws -> RunReport? {
        try pool.read { db in
            try Row.fetchOne(
                db,
                sql: """
                    SELECT r.* FROM tributary_source s JOIN tributary_run r ON r.source = s.source
                    WHERE s.source = ? AND s.held AND r.held AND r.kind IS NULL ORDER BY r.id DESC LIMIT 1
                    """, arguments: [source]
            ).map(RunReport.init)
        }
    }

    package func accept(_ acceptances: [Acceptance]) throws {
        try pool.write { db in
            for acceptance in acceptances {
                try db.execute(
                    sql: "INSERT OR REPLACE INTO tributary_acceptance (source, until, run) VALUES (?, ?, ?)",
                    arguments: [acceptance.source, StoreDate.text(acceptance.until), acceptance.run])
            }
        }
    }

    package func acceptance(of source: String, at now: Date) throws -> Acceptance? {
        try pool.read { try $0.acceptance(of: source, at: now) }
    }
}

extension Database {
    func acceptance(of source: String, at now: Date) throws -> Acceptance? {
        let statement = try cachedStatement(
            sql: "SELECT run, until FROM main.tributary_acceptance WHERE source = ? AND until > ?")
        return try Row.fetchOne(statement, arguments: [source, StoreDate.text(now)]).map { row in
            Acceptance(source: source, run: row[0], until: StoreDate.date(row[1]) ?? now)
        }
    }

    /// Ends or moves the permission of a source.
    ///
    /// - Parameter run: the number of the run that is being recorded.
    func use(_ use: Acceptance.Use, of source: String, run: Int64) throws {
        switch use {
        case .none: break
        case .ends: try execute(cached: "DELETE FROM main.tributary_acceptance WHERE source = ?", [source])
        case .endsForBlockedRun:
            try execute(
                cached: "DELETE FROM main.tributary_acceptance WHERE source = ? AND run IS NOT NULL", [source])
        case .movesToRun:
            try execute(
                cached: "UPDATE main.tributary_acceptance SET run = ? WHERE source = ? AND run IS NOT NULL",
                [run, source])
        }
    }
}
