public import GRDB

/// A record whose columns are exactly its coding keys: the fast way into a worker context.
///
/// Any `PersistableRecord` can be inserted into a context. One that also conforms to `FeedRecord` is written by its
/// `Codable` encoding alone, without a dictionary per record, which is several times as fast. Its column, date, data
/// and UUID strategies are used. A custom `encode(to: inout PersistenceContainer)` and GRDB's persistence callbacks are
/// not.
///
/// ```swift
/// struct Company: FeedRecord {
///     var id: String
///     var name: String
/// }
/// ```
public protocol FeedRecord: Codable, FetchableRecord, PersistableRecord {
    /// The columns that identify a row. Where it is not empty, Tributary creates the record's table, in either store: a column
    /// for each coding key, NOT NULL where the property is not optional, with these as its primary key. Empty by default, for
    /// tables that a migration or a schema file creates.
    static var databaseKey: [String] { get }
}

extension FeedRecord {
    public static var databaseKey: [String] { [] }
}
