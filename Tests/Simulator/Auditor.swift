import Foundation
import GRDB

/// Compares a store with what publishers ever published, after each change of the store.
final class Auditor {
    /// What is known of a feed's rows.
    private struct Known {
        /// nil before the first commit, and after the validators were forgotten.
        var version: Int?
        var rows: [String: String] = [:]
    }

    let feeds: [Feed]
    let hasHook: Bool
    private let fail: (Finding) -> Void
    private(set) var queue: DatabaseQueue?
    private var version: Int?
    private var known: [String: Known] = [:]
    /// The keys in each table, by the changelog.
    private var keys: [String: Set<String>] = [:]
    private var lastChange: Int64 = 0
    private var lastRun: Int64 = 0
    /// The rows of each table after the runs that were seen, in their order.
    private var former: [String: [(run: Int64, rows: [String: String])]] = [:]
    /// What operators have done to each source since the last look.
    private var interventions: [String: Intervention] = [:]

    private enum Intervention {
        /// The rows are again what they were after a run.
        case undone(Int64)
        case purged
    }

    init(_ feeds: [Feed], hasHook: Bool, fail: @escaping (Finding) -> Void) {
        self.feeds = feeds
        self.hasHook = hasHook
        self.fail = fail
    }

    func open(_ path: String) throws {
        try queue?.close()
        var configuration = Configuration()
        configuration.readonly = true
        queue = try DatabaseQueue(path: path, configuration: configuration)
        version = nil
    }

    func close() throws {
        try queue?.close()
        queue = nil
    }

    /// Looks at the store if it has changed.
    ///
    /// - Parameter writer: the process that alone can have recorded runs since the last look, under leases; nil where
    ///   there are none.
    func look(after writer: EventLoop.Process? = nil) throws {
        try queue?.unsafeRead { db in
            guard try Self.version(db) != version else { return }
            // Within the transaction: what is read belongs together.
            try db.inTransaction(.deferred) {
                version = try Self.version(db)
                try check(db, writer)
                return .commit
            }
        }
    }

    /// Returns a number that is another one after each change of the store.
    private static func version(_ db: Database) throws -> Int? {
        try Int.fetchOne(db.cachedStatement(sql: "PRAGMA data_version"))
    }

    /// Checks a store that a power failure has left.
    func checkWhole() throws {
        try queue?.read { db in
            let problems = try String.fetchAll(db, sql: "PRAGMA integrity_check(3)")
            let run = try Int64.fetchOne(db, sql: "SELECT max(id) FROM tributary_run") ?? 0
            let problem: String? =
                if problems != ["ok"] {
                    "is damaged: \(problems.joined(separator: "; "))"
                } else if run < lastRun {
                    "has lost the runs after \(run); \(lastRun) was the last"
                } else {
                    nil
                }
            if let problem { fail(Finding(.durability, "after the power failed, the store \(problem)")) }
        }
    }

    private func check(_ db: Database, _ writer: EventLoop.Process?) throws {
        try takeRuns(db, writer)
        try replayChangelog(db)
        for feed in feeds where try Self.exists(feed.table, db) { try check(feed, db) }
    }

    /// Takes note of the runs that are new.
    private func takeRuns(_ db: Database, _ writer: EventLoop.Process?) throws {
        interventions = [:]
        let runs = try Row.fetchAll(
            db.cachedStatement(
                sql: "SELECT id, source, kind, restored FROM tributary_run WHERE id > ? ORDER BY id"),
            arguments: [lastRun])
        for run in runs {
            lastRun = run["id"]
            if let writer { try checkFence(run["source"], db, writer) }
            if let restored: Int64 = run["restored"] { interventions[run["source"]] = .undone(restored) }
            if run["kind"] as String? == "purge" { interventions[run["source"]] = .purged }
        }
    }

    /// Checks that whoever has just recorded a run holds the lease on its source.
    private func checkFence(_ source: String, _ db: Database, _ writer: EventLoop.Process) throws {
        let holder = try String.fetchOne(
            db, sql: "SELECT holder FROM tributary_source WHERE source = ?", arguments: [source])
        // A purge gives the lease up within the piece of work in which it was made.
        guard let holder, holder != "p\(writer)" else { return }
        fail(
            Finding(
                .fence,
                "p\(writer) has recorded run \(lastRun) of \(source), on which \(holder) has the lease"))
    }

    /// Checks the rows of a feed whose source an operator has changed.
    private func check(_ feed: Feed, _ rows: [String: String], after intervention: Intervention) {
        let (expected, what): ([String: String], String) =
            switch intervention {
            case .undone(let run):
                (former[feed.table]?.last { $0.run <= run }?.rows ?? [:], "brought back to run \(run)")
            case .purged: ([:], "purged")
            }
        guard rows != expected else { return }
        fail(
            Finding(
                .rows,
                "\(feed.source) was \(what), when \(feed.table) had \(Self.text(expected)), and its rows are "
                    + Self.text(rows)))
    }

    private func check(_ feed: Feed, _ db: Database) throws {
        let rows = try Self.rows(feed.table, db)
        guard keys[feed.table, default: []] == Set(rows.keys) else {
            return fail(
                Finding(
                    .changelog,
                    "the changelog of \(feed.table) gives the keys \(keys[feed.table, default: []].sorted()), and the table "
                        + "has \(rows.keys.sorted())"))
        }
        let state = try Self.state(feed, db)
        var known = self.known[feed.table] ?? Known()
        defer {
            self.known[feed.table] = known
            former[feed.table, default: []].append((lastRun, rows))
        }
        if let intervention = interventions[feed.source] {
            check(feed, rows, after: intervention)
            known.rows = rows
        }
        guard let state, state["etag"] != nil || state["last_modified"] != nil || state["digest"] != nil else {
            known.version = nil
            // Forgotten validators leave rows as they are, and so does a source that never ran.
            if rows != known.rows, !feed.versions.contains(where: { $0.rows == rows }), feed.mirrors {
                fail(Finding(.rows, "\(feed.table) has rows that no version of its feed has: \(Self.text(rows))"))
            }
            known.rows = rows
            return
        }
        guard
            let version = feed.version(
                tag: state["etag"], modified: state["last_modified"], digest: state["digest"])
        else {
            // The digest of several pages is that of no version.
            if feed.isPaged { return known = Known(version: nil, rows: rows) }
            return fail(Finding(.rows, "\(feed.table) has validators that no version of its feed has: \(state)"))
        }
        let items = feed.versions[version].rows
        var expected = items
        if !feed.mirrors {
            // A commit adds to what was there; a version without a change of items adds nothing.
            expected = known.rows.merging(items) { $1 }
        }
        if rows != expected {
            fail(
                Finding(
                    .rows,
                    "the validators of \(feed.table) stand for version \(version), \(Self.text(expected)), and its rows "
                        + "are \(Self.text(rows))"))
        }
        known = Known(version: version, rows: rows)
    }

    /// GRDB remembers that there was no such table.
    static func exists(_ table: String, _ db: Database) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(
                sql: "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?)"),
            arguments: [table]) ?? false
    }

    static func rows(_ table: String, _ db: Database) throws -> [String: String] {
        try Row.fetchAll(db.cachedStatement(sql: "SELECT CAST(id AS TEXT), name FROM \(table)")).reduce(into: [:]) {
            $0[$1[0]] = $1[1]
        }
    }

    private static func state(_ feed: Feed, _ db: Database) throws -> Row? {
        try Row.fetchOne(
            db.cachedStatement(
                sql: "SELECT etag, last_modified, digest FROM tributary_request WHERE source = ? AND key = ?"),
            arguments: [feed.source, feed.key])
    }

    private static func text(_ rows: [String: String]) -> String {
        "[" + rows.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ") + "]"
    }

    /// Takes the changes that are new.
    private func replayChangelog(_ db: Database) throws {
        let changes = try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT id, "table", CAST(key AS TEXT) AS key, operation FROM tributary_change WHERE id > ? ORDER BY id
                    """),
            arguments: [lastChange])
        for change in changes {
            lastChange = change["id"]
            let (table, key, operation): (String, String, String) = (
                change["table"], change["key"], change["operation"]
            )
            let isThere = keys[table, default: []].contains(key)
            if isThere != (operation != "insert") {
                fail(
                    Finding(
                        .changelog,
                        "the changelog of \(table) has \(operation) of \(key), which is \(isThere ? "" : "not ")there"))
            }
            if operation == "delete" { keys[table]?.remove(key) } else { keys[table, default: []].insert(key) }
        }
    }
}
