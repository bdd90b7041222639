import GRDB

/// What must be so once nothing goes wrong any more.
extension Auditor {
    /// Returns what is not yet as it should be once nothing goes wrong any more; nil where all is.
    func unsettled(_ receiver: Receiver) throws -> String? {
        try queue?.read { db in
            let sources = try Row.fetchAll(
                db, sql: "SELECT source, outcome, failures, error FROM tributary_source ORDER BY source")
            for source in sources where source["failures"] as Int? ?? 0 > 0 {
                return "source \(source["source"] as String? ?? "") fails: \(source["error"] as String? ?? "")"
            }
            for feed in feeds {
                let items = feed.versions[feed.current].rows
                guard try Self.exists(feed.table, db), case let rows = try Self.rows(feed.table, db),
                    feed.mirrors ? rows == items : rows.merging(items, uniquingKeysWith: { $1 }) == rows
                else { return "\(feed.table) is not version \(feed.current) of its feed" }
            }
            guard hasHook else { return nil }
            let changed = try Int64.fetchAll(
                db,
                sql: """
                    SELECT id FROM tributary_run WHERE outcome = 'committed' AND inserted + updated + deleted > 0
                    ORDER BY id
                    """)
            guard receiver.changed == changed else {
                let missing = changed.filter { !receiver.changed.contains($0) }
                return "the hook was not told of the changes of runs \(missing), but of \(receiver.changed.suffix(5))"
            }
            return nil
        }
    }
}
