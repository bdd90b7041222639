/// The rows of the tables that sources write, read by connections that cannot write, each question within a time limit.
///
/// Tributary's own tables, and tables that no source writes, are none of them.
package protocol StoreBrowsing: AnyObject, Sendable {
    /// Reads in one transaction of a connection that cannot write.
    ///
    /// - Parameter limit: the time for each statement; nil if only the catalog and the ledger are read.
    /// - Throws: the errors of the body; ``RowQuery/Problem`` where the time was over, or the database refused a value;
    ///   ``FeedModel/StoreError``.
    func browse<Value>(within limit: Duration?, _ body: (TableReader) throws -> Value) throws -> Value
}

/// Reads that ask the catalog and the ledger alone.
extension StoreBrowsing {
    package func browsedTables(_ names: Set<String>? = nil) throws -> [BrowsedTable] {
        try browse(within: nil) { try $0.tables(names) }
    }

    package func browsedNames() throws -> [String: [String]] { try browse(within: nil) { try $0.names() } }

    package func browsedTable(_ name: String) throws -> BrowsedTable? {
        try browse(within: nil) { try $0.table(name) }
    }
}
