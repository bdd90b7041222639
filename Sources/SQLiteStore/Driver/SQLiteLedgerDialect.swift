import FeedModel
import Foundation
import GRDB
import FeedStores

/// The SQL of SQLite in the statements of `Ledger`. Times are texts in UTC, to the millisecond.
struct SQLiteLedgerDialect: LedgerDialect {
    private static let format = "'%Y-%m-%dT%H:%M:%fZ'"

    var tables: TableDialect { .sqlite }

    var now: String { "strftime(\(Self.format), 'now')" }
    func time(_ date: Date) -> SQLText { "\(bind: date)" }

    func time(_ time: SQLText, plus seconds: SQLText) -> SQLText {
        "strftime(\(Self.format), julianday(\(time)) + \(seconds) / 86400.0)"
    }

    func seconds(from start: SQLText, to end: SQLText) -> SQLText {
        "(julianday(\(end)) - julianday(\(start))) * 86400.0"
    }

    func epoch(_ column: String) -> String { "strftime('%s', \(column))" }
    func wholePart(_ number: SQLText) -> SQLText { "CAST(\(number) AS INTEGER)" }
    var least: String { "min" }
    var greatest: String { "max" }

    func isAmong(_ column: String, _ texts: [String]) -> SQLText {
        "\(column) IN (SELECT value FROM json_each(\(bind: texts)))"
    }

    func unnested(_ requests: [RequestID], as alias: String) -> SQLText {
        // An array of texts is always encoded.
        let pairs = (try? JSONText.encode(requests.map { [$0.source, $0.key] })) ?? "[]"
        return """
            (SELECT json_extract(value, '$[0]') AS source, json_extract(value, '$[1]') AS key
            FROM json_each(\(bind: pairs))) AS \(alias)
            """
    }

    func withoutSeconds(_ requests: SQLText) -> SQLText {
        "(SELECT json_group_array(json_remove(value, '$.seconds')) FROM json_each(\(requests)))"
    }

    /// Commits follow one another, so ids are their order.
    var isSettled: String? { nil }

    var nextRun: String {
        """
        (SELECT 1 + max(
            coalesce((SELECT max(id) FROM main.tributary_run), 0),
            coalesce((SELECT run FROM main.tributary_change ORDER BY id DESC LIMIT 1), 0)))
        """
    }

    var lastChange: String { "coalesce((SELECT max(id) FROM main.tributary_change), 0)" }
    var transaction: String { "NULL" }
    /// One transaction writes at a time.
    func lock(_ alias: String, skips: Bool) -> String { "" }
    var combinesWrites: Bool { false }
    /// One, so that every INSERT is the same statement, which is prepared once.
    var rowsInStatement: Int { 1 }
}

extension Database {
    var ledger: Ledger { Ledger(self, SQLiteLedgerDialect()) }
}
