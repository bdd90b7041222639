import FeedConfiguration
import FeedModel
import FeedParsing
import FeedStores

/// The changed rows of an event, read from the changelog in batches of some hundred. Blocks its thread.
///
/// For a hook with a condition, it reads all changes of the run; otherwise, only as many as the event holds.
struct EventChanges {
    private static let rowsAtOnce = 500
    /// The approximate size of keys and values after which an event takes no further row.
    private static let mostBytes = 1 << 20

    private let run: ChangelogRun
    private let hook: HookDeclaration
    private let environment: RunEnvironment
    private var conditions: [String: ChangeCondition] = [:]
    private var cursor: Int64 = 0
    private var taken: [ChangelogEntry] = []
    private var bytes = 0
    private var isFull = false
    /// The number of changes that pass the condition.
    private var heard = 0

    init(of run: ChangelogRun, _ hook: HookDeclaration, _ environment: RunEnvironment) {
        self.run = run
        self.hook = hook
        self.environment = environment
        isFull = hook.rows == 0
    }

    /// Reads the next rows.
    ///
    /// - Returns: false after the last needed row.
    /// - Throws: `ChangeCondition.Failure`, `StoreError`.
    mutating func readOn() throws -> Bool {
        if hook.condition == nil, isFull { return false }
        let most = hook.condition == nil ? hook.rows - taken.count : Self.rowsAtOnce
        let page = try environment.store.read {
            try $0.changelog.changes(of: run, after: cursor, limit: min(most, Self.rowsAtOnce))
        }
        guard let last = page.last else { return false }
        cursor = last.id
        for change in try withImages(page) where try hears(of: change) {
            heard += 1
            take(change)
        }
        return true
    }

    /// Adds the rows to an event.
    ///
    /// - Returns: false if no row passes the condition.
    func fill(_ event: inout HookEvent) -> Bool {
        let counts = run.report.counts
        let all = hook.condition == nil ? counts.inserted + counts.updated + counts.deleted : heard
        event.format = hook.format
        event.changes = taken
        event.changesOmitted = max(0, all - taken.count)
        return hook.condition == nil || heard > 0
    }

    private mutating func take(_ change: ChangelogEntry) {
        var change = change
        if !hook.format.hasImages { change.images = nil }
        isFull = isFull || taken.count == hook.rows || !taken.isEmpty && bytes + change.size > Self.mostBytes
        guard !isFull else { return }
        taken.append(change)
        bytes += change.size
        isFull = taken.count == hook.rows
    }

    /// Returns the changes that may pass the condition, with their rows if needed.
    private func withImages(_ changes: [ChangelogEntry]) throws -> [ChangelogEntry] {
        let wanted = hook.condition.map { condition in changes.filter { condition.sql(for: $0.table) != nil } }
        guard hook.format.hasImages || hook.condition != nil else { return changes }
        return try environment.store.withImages(
            wanted ?? changes, of: run,
            DeclaredKeys(environment.configuration, parsers: environment.registry))
    }

    private mutating func hears(of change: ChangelogEntry) throws -> Bool {
        guard let sql = hook.condition?.sql(for: change.table) else { return true }
        let condition = try conditions[sql] ?? ChangeCondition(sql)
        conditions[sql] = condition
        return try condition.holds(for: change)
    }
}
