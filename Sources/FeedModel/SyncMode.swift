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
