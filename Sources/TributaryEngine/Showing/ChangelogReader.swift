package import FeedDeclarations
package import FeedModel
package import FeedParsing
package import FeedStores

/// Reads the changelog as lines: the rows of each commit in the order of their ids, then the commit's end. Commits come in
/// the order of ``RunPosition``, in which nothing is ever passed over. Rows are read some thousand at a time, each time by
/// a question of its own, so that neither memory nor the store feels how many there are, or how slowly they are read.
package struct ChangelogReader: Sendable {
    /// A place behind the changelog's end.
    package struct Ahead: Error, CustomStringConvertible {
        package let description: String
    }

    /// What is read beside the changes: their rows.
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
    /// The last row of all that was read.
    private var cursor: Int64 = 0
    /// The row that the caller has read last, where its commit is forgotten: commits whose rows all come before it are
    /// passed over.
    private var known: Int64 = 0
    /// Those that are read next.
    private var runs: ArraySlice<ChangelogRun> = []
    /// The last row that was read of the first of these, and whether any was.
    private var row: (last: Int64, isRead: Bool) = (0, false)

    /// - Parameters:
    ///   - sources: empty for all.
    ///   - after: the id of the last row that the caller has read.
    ///   - images: nil for the keys of rows alone.
    package init(_ store: any MainStore, sources: Set<String>, after: Int64?, images: Images? = nil) {
        self.images = images
        self.store = store
        self.sources = sources
        self.after = after
    }

    /// Returns the next lines; none where everything has been read that can be. Blocks its thread.
    ///
    /// - Throws: ``Ahead`` where the changelog does not reach so far; `StoreError`.
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
            let page = try store.page(after: position, limit: Self.runsAtOnce)
            runs = page.runs[...]
            if page.hasForgotten { return [TailLine(.runsForgotten(after: cursor))] }
            if runs.isEmpty { return [] }
        }
    }

    /// True where commits follow that cannot be read yet, as an older transaction is under way.
    package func isHeldUp() throws -> Bool { try store.isHeldUp(after: position) }

    /// Finds the place of the last row that was read.
    ///
    /// - Returns: a line where rows behind it are forgotten.
    private mutating func begin(_ after: Int64) throws -> TailLine? {
        guard let bounds = try store.changelogBounds() else {
            if after > 0 { throw Self.ahead(after, last: 0) }
            return nil
        }
        if after > bounds.upperBound { throw Self.ahead(after, last: bounds.upperBound) }
        cursor = after
        if let id = try store.run(ofChange: after), let run = try store.run(id) {
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

    /// Returns the next rows of a run, or its end, with which it is done; nothing for one without rows.
    private mutating func lines(of run: ChangelogRun) throws -> [TailLine] {
        let end = run.changes?.upperBound ?? 0
        let isWanted = sources.isEmpty || sources.contains(run.report.source)
        if isWanted, end > max(row.last, known) {
            var changes = try store.changes(
                of: run, after: row.last, limit: images == nil ? Self.rowsAtOnce : Self.imagesAtOnce)
            if let last = changes.last {
                row = (last.id, true)
                if let images {
                    changes = try store.withImages(
                        changes, of: run, images.configuration[source: run.report.source], images.parsers)
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
