import FeedModel
import Foundation
import FeedStores

/// The SQL of PostgreSQL in the statements of `Ledger`. Times are `timestamptz`, to the millisecond.
struct PostgresLedgerDialect: LedgerDialect {
    var tables: TableDialect { .postgres }

    var now: String { "date_trunc('milliseconds', clock_timestamp())" }
    func time(_ date: Date) -> SQLText { "CAST(\(bind: date) AS timestamptz)" }
    func time(_ time: SQLText, plus seconds: SQLText) -> SQLText { "\(time) + interval '1 second' * \(seconds)" }
    func seconds(from start: SQLText, to end: SQLText) -> SQLText { "extract(epoch FROM \(end) - \(start))" }
    func epoch(_ column: String) -> String { "CAST(extract(epoch FROM \(column)) AS float8)" }
    func wholePart(_ number: SQLText) -> SQLText { "CAST(floor(\(number)) AS bigint)" }
    var least: String { "least" }
    var greatest: String { "greatest" }
    func isAmong(_ column: String, _ texts: [String]) -> SQLText { "\(column) = ANY (\(bind: texts))" }

    func unnested(_ requests: [RequestID], as alias: String) -> SQLText {
        "unnest(\(bind: requests.map(\.source)), \(bind: requests.map(\.key))) AS \(alias) (source, key)"
    }

    func withoutSeconds(_ requests: SQLText) -> SQLText {
        """
        (SELECT jsonb_agg(request - 'seconds' ORDER BY place)
        FROM jsonb_array_elements(CAST(\(requests) AS jsonb)) WITH ORDINALITY AS listed (request, place))
        """
    }

    /// Ids are given before the commit, so that a later one may become visible earlier.
    var isSettled: String? { "transaction < pg_snapshot_xmin(pg_current_snapshot())" }

    var nextRun: String { "nextval(pg_get_serial_sequence('tributary_run', 'id'))" }

    var lastChange: String {
        "coalesce(pg_sequence_last_value(pg_get_serial_sequence('tributary_change', 'id')), 0)"
    }

    var transaction: String { "pg_current_xact_id()" }
    func lock(_ alias: String, skips: Bool) -> String { " FOR UPDATE OF \(alias)\(skips ? " SKIP LOCKED" : "")" }
    var combinesWrites: Bool { true }
    var rowsInStatement: Int { 2_000 }
}
