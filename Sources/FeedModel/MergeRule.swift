/// The rule by which one request's rows are merged into their tables.
package struct MergeRule: Sendable, Hashable {
    package var sync: SyncMode
    /// Columns with the values to which a mirror's deletions are limited. Staged rows without such a column get its
    /// value.
    package var scope: [String: String]
    package var window: MirrorWindow?
    /// True if tables without the window's column are mirrored whole. Otherwise they are refused.
    package var windowMayLack: Bool
    /// The columns, by table, that identify rows under a unique index; the primary key where none are given.
    package var keys: [String: [String]]
    /// The columns, by table, of a parser's records that are written only where the row is new.
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

    /// Returns the columns that identify a table's rows, however the rule spells the table's name.
    package func key(of table: String) -> [String]? { Self.entry(of: table, in: keys) }

    /// Returns the columns that are written only where a row of the table is new, however the rule spells its name.
    package func insertOnly(of table: String) -> Set<String> { Self.entry(of: table, in: insertOnly) ?? [] }

    /// A name counts in its own case first, and then in any, where only one is like it.
    private static func entry<Value>(of table: String, in entries: [String: Value]) -> Value? {
        guard !entries.isEmpty else { return nil }
        if let exact = entries[table] { return exact }
        let name = table.lowercased()
        let alike = entries.filter { $0.key.lowercased() == name }
        return alike.count == 1 ? alike.first?.value : nil
    }
}

/// The treatment of rows whose key is already in the main store, and of rows that the feed no longer has.
public enum SyncMode: String, Sendable, Hashable, CaseIterable, Codable {
    /// Every row is inserted, even if it is already there; nothing is deleted.
    case append
    /// Rows with a new key are inserted; known ones are kept as they are; nothing is deleted.
    case insert
    /// Rows with a new key are inserted; known ones are updated where they differ; nothing is deleted.
    case upsert
    /// As `upsert`; rows of the scope that the feed no longer has are deleted.
    case mirror
}
