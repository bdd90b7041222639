/// How the rows that one request writes are merged into their tables.
package struct MergeRule: Sendable, Hashable {
    package var sync: SyncMode
    /// Columns whose values a mirror's deletions are limited to. Staged rows that lack such a column get its value.
    package var scope: [String: String]
    package var window: MirrorWindow?
    /// Whether tables without the window's column are mirrored whole, rather than refused.
    package var windowMayLack: Bool
    /// For a table, the columns under a unique index that identify its rows; the primary key where none are given.
    package var keys: [String: [String]]
    /// For a table, the columns of a parser's records that are written only where the row is new.
    package var insertOnly: [String: Set<String>]

    package init(
        sync: SyncMode = .upsert, scope: [String: String] = [:], window: MirrorWindow? = nil,
        windowMayLack: Bool = false, keys: [String: [String]] = [:], insertOnly: [String: Set<String>] = [:]
    ) {
        self.window = window
        self.windowMayLack = windowMayLack
        self.sync = sync
        self.scope = scope
        self.keys = keys
        self.insertOnly = insertOnly
    }
}
