package import FeedModel

/// The rows of a main store.
package protocol StoreRows: AnyObject, Sendable {
    /// Returns the value of an SQL expression over the rows of a table, within a scope; nil for NULL.
    func value(of expression: String, in table: String, scope: [String: String]) throws -> String?

    /// Returns true if rows have expired.
    ///
    /// - Throws: ``StoreError`` for a column without dates.
    func hasExpiredRows(_ expiries: [Retention.Expiry]) throws -> Bool

    /// Copies a snapshot of tables with all their rows into a new SQLite file.
    ///
    /// - Parameter tables: the names of existing tables; nil for every table and all other content of the store.
    /// - Throws: ``StoreError`` naming a table or file.
    func copy(_ tables: [String]?, to path: String) throws
}
