package import FeedModel

/// The runs in the order in which they are read, and their row changes: `tributary_change`.
///
/// The order is that of the recording transactions. On a server, only transactions older than every open one are
/// read, so that none appears before them later. A writing transaction that is open for an hour delays readers by an
/// hour.
package struct Changelog: LedgerPart {
    let ledger: Ledger

    /// The approximate number of bytes of keys after which no further change is read at once.
    package static let mostBytesAtOnce = 1 << 20

    /// The condition that a run can be read.
    private var isReadable: String { dialect.isSettled ?? "TRUE" }

    /// Returns the position after all readable runs.
    package func lastPosition() throws -> RunPosition {
        try runs("WHERE \(isReadable) ORDER BY \(dialect.runPositionDescending) LIMIT 1").first?.position ?? .start
    }

    /// Returns the first runs after a position.
    ///
    /// - Parameter changing: true for only those that have changed rows, which have an index of their own.
    package func runs(after position: RunPosition, limit: Int, changing: Bool = false) throws -> [ChangelogRun] {
        let hasChanged: SQLText = changing ? " AND first_change IS NOT NULL" : ""
        return try runs(
            """
            WHERE \(dialect.isAfter(position)) AND \(isReadable)\(hasChanged)
            ORDER BY \(dialect.runPosition) LIMIT \(bind: limit)
            """)
    }

    /// Returns the first runs after a position, and whether others between the two have been deleted.
    ///
    /// The oldest runs are forgotten first. So nothing after the position is forgotten as long as the store has a run that is not
    /// after it; of those that are old enough, the last one stays. Gaps between numbers tell nothing: on a server,
    /// numbers are lost without anything being forgotten.
    ///
    /// - Parameter changing: true for only the runs that have changed rows.
    package func page(
        after position: RunPosition, limit: Int, changing: Bool = false
    ) throws -> (runs: [ChangelogRun], hasForgotten: Bool) {
        let runs = try runs(after: position, limit: limit, changing: changing)
        // A run whose number follows at once needs no look.
        guard changing || !runs.isEmpty, position.run > 0, runs.first?.position.run != position.run + 1,
            let oldest = try self.runs(after: .start, limit: 1).first
        else { return (runs, false) }
        return (runs, oldest.position > position)
    }

    /// Returns a run; nil where it is forgotten.
    package func run(_ id: Int64) throws -> ChangelogRun? { try runs("WHERE id = \(bind: id)").first }

    private func runs(_ conditions: SQLText) throws -> [ChangelogRun] {
        try session.all("SELECT \(columns(OwnTables.runsAlone)) FROM \(dialect.run) \(conditions)") {
            try read(OwnTables.runsAlone, $0).changelogRun
        }
    }

    /// True if runs after a position are recorded that cannot be read yet, as an older transaction is in progress.
    package func isDelayed(after position: RunPosition) throws -> Bool {
        guard let isSettled = dialect.isSettled else { return false }
        return try session.isTrue(
            "SELECT EXISTS (SELECT 1 FROM \(dialect.run) WHERE \(dialect.isAfter(position)) AND NOT \(isSettled))")
    }

    /// Returns the first changes of a run by their ids.
    ///
    /// - Parameters:
    ///   - limit: the most changes.
    ///   - bytes: the approximate number of bytes of keys after which no further change is read.
    package func changes(
        of run: ChangelogRun, after id: Int64, limit: Int, bytes most: Int = Self.mostBytesAtOnce
    ) throws -> [ChangelogEntry] {
        guard let range = run.changes, range.upperBound > id else { return [] }
        var found: [ChangelogEntry] = []
        var bytes = 0
        try session.forEachRow(
            of: """
                SELECT \(columns(OwnTables.changes.reader)) FROM \(dialect.change)
                WHERE id > \(bind: max(id, range.lowerBound - 1)) AND id <= \(bind: range.upperBound)
                AND run = \(bind: run.position.run) ORDER BY id LIMIT \(bind: limit)
                """
        ) { row in
            let change = try read(OwnTables.changes.reader, row)
            bytes += change.size
            found.append(change)
            return bytes < most
        }
        return found
    }

    /// Reports the last change of each row that several changes concern, from the first of the given changes on.
    ///
    /// - Parameter ids: the ids of the given changes. Only the rows that one of them concerns are looked for.
    package func forEachRepeatedRow(
        of ids: ClosedRange<Int64>, _ body: (_ table: String, _ key: StoredValue, _ last: Int64) -> Void
    ) throws {
        try forEachLast(
            of: ids, from: "\(dialect.change) l WHERE l.id >= \(bind: ids.lowerBound) AND", "HAVING count(*) > 1", body)
    }

    /// Reports, of each row that one of the given changes concerns, the last change by a run after a position.
    ///
    /// - Parameter ids: the ids of the given changes.
    package func forEachRow(
        of ids: ClosedRange<Int64>, changedAfter position: RunPosition,
        _ body: (_ table: String, _ key: StoredValue, _ last: Int64) -> Void
    ) throws {
        try forEachLast(
            of: ids,
            from: """
                (SELECT id AS number, first_change, last_change FROM \(dialect.run)
                WHERE \(dialect.isAfter(position)) AND first_change IS NOT NULL) r
                CROSS JOIN \(dialect.change) l
                WHERE l.id BETWEEN r.first_change AND r.last_change AND l.run = r.number AND
                """, "", body)
    }

    private func forEachLast(
        of ids: ClosedRange<Int64>, from rows: SQLText, _ having: String,
        _ body: (_ table: String, _ key: StoredValue, _ last: Int64) -> Void
    ) throws {
        try session.forEachRow(
            of: """
                SELECT l."table", l.key, max(l.id) FROM \(rows) (l."table", l.key) IN (
                    SELECT c."table", c.key FROM \(dialect.change) c
                    WHERE c.id BETWEEN \(bind: ids.lowerBound) AND \(bind: ids.upperBound))
                GROUP BY l."table", l.key \(having)
                """
        ) { row in
            body(row.string(0) ?? "", row.storedValue(1), try row.int64(2) ?? 0)
            return true
        }
    }

    /// Returns the number of changes by runs after a position.
    package func changes(after position: RunPosition) throws -> Int {
        try session.count(
            """
            SELECT CAST(sum(last_change - first_change + 1) AS bigint) FROM \(dialect.run)
            WHERE \(dialect.isAfter(position)) AND first_change IS NOT NULL
            """)
    }

    /// Returns the ids of the first and the last change; nil without any.
    package func bounds() throws -> ClosedRange<Int64>? {
        try session.first(
            "SELECT (SELECT min(id) FROM \(dialect.change)), (SELECT max(id) FROM \(dialect.change))"
        ) { row in
            guard let first = try row.int64(0), let last = try row.int64(1) else { return nil }
            return first...last
        }
    }

    /// Returns the last id that a change was given; 0 before the first.
    package func lastID() throws -> Int64 { try session.int64("SELECT \(dialect.lastChange)") ?? 0 }

    /// Returns the names of the tables that a source has written, according to the changelog.
    package func tables(of source: String) throws -> Set<String> {
        let logged = try session.all(
            """
            SELECT DISTINCT c."table" FROM \(dialect.change) c JOIN \(dialect.run) r ON r.id = c.run
            WHERE r.source = \(bind: source)
            """
        ) { $0.string(0) ?? "" }
        let claimed = try session.all("SELECT tables FROM \(dialect.request) WHERE source = \(bind: source)") {
            try $0.texts(0)
        }
        return Set(logged + claimed.joined())
    }

    /// Returns the last changes, `c`, that a condition holds for, the last one first.
    package func writings(where condition: SQLText, most: Int) throws -> [RowWriting] {
        try session.all(
            """
            SELECT c.run, c.operation, r.source, \(dialect.date("r.started_at"))
            FROM \(dialect.change) c LEFT JOIN \(dialect.run) r ON r.id = c.run
            WHERE \(condition) ORDER BY c.id DESC LIMIT \(bind: most)
            """
        ) { row in
            RowWriting(
                run: try row.int64(0) ?? 0, source: row.string(2), startedAt: try row.date(3),
                operation: row.string(1) ?? "")
        }
    }

    /// Returns the run that made a change; nil if the change no longer exists.
    package func run(ofChange id: Int64) throws -> Int64? {
        try session.int64("SELECT run FROM \(dialect.change) WHERE id = \(bind: id)")
    }
}

extension Ledger {
    package var changelog: Changelog { Changelog(ledger: self) }
}
