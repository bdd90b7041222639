/// How the rows that one request writes are merged into their tables.
package struct MergeRule: Sendable, Hashable {
    package var sync: SyncMode
    /// Columns whose values a mirror's deletions are limited to. Staged rows that lack such a column get its value.
    package var scope: [String: String]
    /// The column of a window that moves: a mirror deletes only rows whose value in it is not below the smallest staged.
    package var window: String?
    /// For a table, the columns under a unique index that identify its rows; the primary key where none are given.
    package var keys: [String: [String]]
    /// For a table, the columns of a parser's records that are written only where the row is new.
    package var insertOnly: [String: Set<String>]

    package init(
        sync: SyncMode = .upsert, scope: [String: String] = [:], window: String? = nil,
        keys: [String: [String]] = [:], insertOnly: [String: Set<String>] = [:]
    ) {
        self.window = window
        self.sync = sync
        self.scope = scope
        self.keys = keys
        self.insertOnly = insertOnly
    }
}
