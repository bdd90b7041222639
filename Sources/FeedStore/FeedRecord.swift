public import GRDB

/// A record whose columns are its coding keys, and nothing else: the fast way into a worker context.
///
/// Any `PersistableRecord` can be inserted into a context. One that conforms to `FeedRecord` besides is written by its
/// `Codable` encoding alone, without a dictionary per record: several times as fast. Its column, date, data and UUID
/// strategies count; an `encode(to: inout PersistenceContainer)` of its own, and GRDB's persistence callbacks, do not.
///
/// ```swift
/// struct Company: FeedRecord {
///     var id: String
///     var name: String
/// }
/// ```
public protocol FeedRecord: Codable, FetchableRecord, PersistableRecord {}
