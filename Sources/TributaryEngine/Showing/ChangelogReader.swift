package import FeedConfiguration
package import FeedModel
package import FeedParsing
package import FeedStores

/// Reads the changelog as lines: the rows of each commit in the order of their ids, then the end of the commit. Commits
/// come in the order of ``RunPosition``, which skips none. Rows are read in batches of some thousand, each with its own
/// query, so that memory and the store do not depend on their number.
package struct ChangelogReader: Sendable {
    /// The error of a position after the changelog's end.
    package struct Ahead: Error, CustomStringConvertible {
        package let description: String
    }

    /// The rows that are read with the changes.
    package struct Images: Sendable {
        package var format: ChangeFormat
        package var configuration: TributaryConfiguration
        package var parsers: ParserRegistry

        package init(_ format: ChangeFormat, _ configuration: TributaryConfiguration, _ parsers: ParserRegistry) {
            self.format = format
            self.configuration = configuration
            self.parsers = parsers
        }
    }

    private static let (runsAtOnce, rowsAtOnce, imagesAtOnce) = (200, 5_000, 500)

    private let store: any MainStore
    private let sources: Set<String>
    private let after: Int64?
    private let images: Images?
    private var hasBegun = false
    private var position = RunPosition.start
    /// The id of the last row read.
    private var cursor: Int64 = 0
    /// The id of the caller's last row, if its commit was deleted. Commits with only earlier rows are skipped.
    private var known: Int64 = 0
    /// The next runs.
    private var runs: ArraySlice<ChangelogRun> = []
    /// The last row read of the first run, and whether any was read.
    private var row: (last: Int64, isRead: Bool) = (0, false)

    /// - Parameters:
    ///   - sources: empty for all.
    ///   - after: the id of the last row that the caller has read.
    ///   - images: nil to read only the keys of rows.
    package init(_ store: any MainStore, sources: Set<String>, after: Int64?, images: Images? = nil) {
        self.images = images
        self.store = store
        self.sources = sources
        self.after = after
    }

    /// Returns the next lines; none at the end. Blocks its thread.
    ///
    /// - Throws: ``Ahead`` if the changelog ends before the position; `StoreError`.
    package mutating func next() throws -> [TailLine] {
        if !hasBegun {
            hasBegun = true
            if let after, let line = try begin(after) { return [line] }
        }
        while true {
            while let run = runs.first {
                let lines = try lines(of: run)
                if !lines.isEmpty { return lines }
            }
            let page = try store.read { try $0.changelog.page(after: position, limit: Self.runsAtOnce, changing: true) }
            runs = page.runs[...]
            if page.hasForgotten { return [TailLine(.runsForgotten(after: cursor))] }
            if runs.isEmpty { return [] }
        }
    }

    /// Returns the next lines; none at the end; nil while an older open transaction delays later commits. Blocks its thread.
    ///
    /// - Throws: as ``next()``.
    package mutating func nextUnlessHeldUp() throws -> [TailLine]? {
        let lines = try next()
        guard lines.isEmpty else { return lines }
        // What delayed the first look may have ended since.
        return try isHeldUp() ? nil : next()
    }

    /// Returns true if an older open transaction delays later commits.
    package func isHeldUp() throws -> Bool { try store.read { try $0.changelog.isDelayed(after: position) } }

    /// Finds the position of the last row read.
    ///
    /// - Returns: a line if rows after it were deleted.
    private mutating func begin(_ after: Int64) throws -> TailLine? {
        guard let bounds = try store.read({ try $0.changelog.bounds() }) else {
            if after > 0 { throw Self.ahead(after, last: 0) }
            return nil
        }
        if after > bounds.upperBound { throw Self.ahead(after, last: bounds.upperBound) }
        cursor = after
        if let id = try store.read({ try $0.changelog.run(ofChange: after) }),
            let run = try store.read({ try $0.changelog.run(id) })
        {
            position = run.position
            runs = [run]
            row.last = after
            return nil
        }
        known = after
        return bounds.lowerBound > after + 1 ? TailLine(.forgotten(after: after, first: bounds.lowerBound)) : nil
    }

    private static func ahead(_ after: Int64, last: Int64) -> Ahead {
        Ahead(description: "\(after): the changelog ends with row \(last); is this the right store?")
    }

    /// Returns the next rows of a run, or its end; no lines for a run without rows.
    private mutating func lines(of run: ChangelogRun) throws -> [TailLine] {
        let end = run.changes?.upperBound ?? 0
        let isWanted = sources.isEmpty || sources.contains(run.report.source)
        if isWanted, end > max(row.last, known) {
            var changes = try store.read {
                try $0.changelog.changes(
                    of: run, after: row.last, limit: images == nil ? Self.rowsAtOnce : Self.imagesAtOnce)
            }
            if let last = changes.last {
                row = (last.id, true)
                if let images {
                    changes = try store.withImages(
                        changes, of: run, DeclaredKeys(images.configuration, parsers: images.parsers))
                }
                return changes.map { TailLine(.change($0), of: run, format: images?.format ?? .key) }
            }
        }
        defer { row = (0, false) }
        position = run.position
        cursor = max(cursor, end)
        runs.removeFirst()
        return row.isRead ? [TailLine(.commit(last: row.last), of: run)] : []
    }
}

/// A changed row in JSON: a line of `changes --json`.
package struct ChangeRecord: Encodable {
    private let change: RowChange

    package init(_ change: RowChange) { self.change = change }

    package func encode(to encoder: any Encoder) throws {
        let object: JSONObject = [
            "run": change.run, "source": change.source, "started_at": change.startedAt, "table": change.table,
            "operation": change.operation, "key": change.key.object, "old": change.old?.object,
            "new": change.new?.object,
            // If the row has been changed since, its values after the run are unknown.
            "changed_since": !change.isKnown,
        ]
        try object.encode(to: encoder)
    }
}

extension [(column: String, value: StoredValue)] {
    /// The values by their columns, as JSON has a row.
    var object: [String: StoredValue] { Dictionary(map { ($0.column, $0.value) }) { first, _ in first } }
}

/// Ends the reading of changes.
private struct Enough: Error {}

extension StoreHistory {
    /// Reports the first changes that a query finds, until the body returns false.
    package func changes(_ query: ChangeQuery, while body: (RowChange) throws -> Bool) throws {
        do {
            try changes(query) { change in
                if try !body(change) { throw Enough() }
            }
        } catch is Enough {
        }
    }
}
