package import FeedModel
package import FeedStores
package import Foundation
import PostgresClient

/// Permissions to exceed the limits of changes.
extension PostgresStore {
    package func blockedRun(of source: String) throws -> RunReport? {
        try ask { connection in
            try connection.execute(
                """
                SELECT \(RunReport.postgresColumns) FROM tributary_run
                WHERE source = $1 AND held AND kind IS NULL
                AND EXISTS (SELECT FROM tributary_source s WHERE s.source = $1 AND s.held)
                ORDER BY id DESC LIMIT 1
                """, [.text(source)]
            ).first.map { try RunReport($0) }
        }
    }

    package func accept(_ acceptances: [Acceptance]) throws {
        try write { connection in
            for acceptance in acceptances {
                try connection.execute(
                    """
                    INSERT INTO tributary_acceptance (source, until, run) VALUES ($1, $2, $3)
                    ON CONFLICT (source) DO UPDATE SET until = EXCLUDED.until, run = EXCLUDED.run
                    """,
                    [
                        .text(acceptance.source), PostgresDate.value(acceptance.until),
                        acceptance.run.map { .integer($0) },
                    ])
            }
        }
    }

    package func acceptance(of source: String, at now: Date) throws -> Acceptance? {
        try ask { try $0.acceptance(of: source, at: now) }
    }
}

extension PostgresConnection {
    func acceptance(of source: String, at now: Date) throws -> Acceptance? {
        try execute(
            """
            SELECT run, \(PostgresDate.sql("until")) FROM tributary_acceptance
            WHERE source = $1 AND until > $2
            """, [.text(source), PostgresDate.value(now)]
        ).first.map { row in
            Acceptance(source: source, run: try row.int64(0), until: try row.date(1) ?? now)
        }
    }
}

extension Acceptance.Use {
    /// Returns a part of a WITH clause that ends or moves the permission; empty where it stays.
    ///
    /// - Parameter source: an expression for the source. The number of the run that is being recorded is in `run`.
    func sql(of source: String) -> String {
        switch self {
        case .none: ""
        case .ends: ", used AS (DELETE FROM tributary_acceptance WHERE source = \(source))"
        case .endsForBlockedRun:
            ", used AS (DELETE FROM tributary_acceptance WHERE source = \(source) AND run IS NOT NULL)"
        case .movesToRun:
            ", used AS (UPDATE tributary_acceptance a SET run = run.id FROM run "
                + "WHERE a.source = \(source) AND a.run IS NOT NULL)"
        }
    }
}
