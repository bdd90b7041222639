import FeedModel
import FeedStaging
import FeedStores
import SQLiteStore
import Foundation
import GRDB

/// What the store's file really holds, read by a connection of its own.
struct StoreContents: Equatable {
    struct Run: Equatable {
        var id: Int64
        var source: String
        var outcome: RunOutcome
        var error: String?
        /// What became of each request, by key.
        var requests: [String: String]
    }

    struct Change: Equatable {
        var id: Int64
        var run: Int64
        var table: String
        var key: String
        var operation: String
    }

    /// Where a request's validators stand.
    struct Version: Hashable {
        var source: String
        var request: String
        /// The entity tag, or the digest.
        var validator: String
    }

    var tables: [ModelTable: [ModelRow]] = [:]
    /// The keys of each table's rows as the changelog writes them.
    var keys: [ModelTable: [String]] = [:]
    /// The runs; once for each poll that their rows count.
    var runs: [Run] = []
    /// The polls that the rows count, by number.
    var polls: [Int64: Int] = [:]
    var changes: [Change] = []
    var versions: Set<Version> = []
    var integrity: [String] = []

    /// - Parameters:
    ///   - last: runs up to this one, and what they changed, are left out.
    ///   - known: the polls that rows have counted before, which are left out.
    init(path: String, after last: Int64 = 0, known: [Int64: Int] = [:], checksIntegrity: Bool = false) throws {
        var configuration = Configuration()
        configuration.readonly = true
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.read { db in
            for table in ModelTable.allCases {
                let rows = try Row.fetchAll(
                    db, sql: "SELECT \(table.key ?? "rowid") AS journal_key, * FROM \(table) ORDER BY rowid")
                tables[table] = rows.map { row in
                    table.columns.reduce(into: [:]) { $0[$1] = .some(Self.text(row[$1])) }
                }
                keys[table] = rows.map { Self.text($0["journal_key"]) ?? "" }
            }
            runs = try Row.fetchAll(
                db, sql: "SELECT * FROM tributary_run WHERE id > ? OR polls > 1 ORDER BY id", arguments: [last]
            ).flatMap { row in
                let requests = try JSONDecoder().decode([Request].self, from: Data((row["requests"] as String).utf8))
                let run = Run(
                    id: row["id"], source: row["source"],
                    outcome: RunOutcome(rawValue: row["outcome"]) ?? .cancelled, error: row["error"],
                    requests: Dictionary(requests.map { ($0.key, $0.outcome) }) { $1 })
                let count: Int = row["polls"]
                polls[run.id] = count
                return Array(repeating: run, count: count - (known[run.id] ?? (run.id > last ? 0 : 1)))
            }
            changes = try Row.fetchAll(
                db, sql: "SELECT * FROM tributary_change WHERE run > ? ORDER BY id", arguments: [last]
            ).map { row in
                Change(
                    id: row["id"], run: row["run"], table: row["table"], key: Self.text(row["key"]) ?? "",
                    operation: row["operation"])
            }
            versions = try Set(
                Row.fetchAll(
                    db, sql: "SELECT source, key, coalesce(etag, digest) AS validator FROM tributary_request"
                ).compactMap { row in
                    (row["validator"] as String?).map {
                        Version(source: row["source"], request: row["key"], validator: $0)
                    }
                })
            if checksIntegrity {
                integrity = try String.fetchAll(db, sql: "PRAGMA integrity_check").filter { $0 != "ok" }
                integrity += try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").map { "\($0)" }
                let claimed = """
                    SELECT r.source, r.key, lower(t.value), r.scope FROM tributary_request r, json_each(r.tables) t
                    """
                let claims = "SELECT source, key, \"table\", scope FROM tributary_claim"
                for difference in ["\(claimed) EXCEPT \(claims)", "\(claims) EXCEPT \(claimed)"] {
                    integrity += try Row.fetchAll(db, sql: difference).map { "claim \($0)" }
                }
            }
        }
        try queue.close()
    }

    private struct Request: Decodable {
        var key: String
        var outcome: String
    }

    private static func text(_ value: DatabaseValue) -> String? {
        switch value.storage {
        case .null: nil
        case .int64(let number): String(number)
        case .double(let number): String(number)
        case .string(let text): text
        case .blob(let data): data.base64EncodedString()
        }
    }
}
