package import FeedModel

/// A main store whose tables ``TableReader`` reads.
package protocol BrowsingStore: StoreBrowsing {
    /// Reads in one transaction of a connection that cannot write.
    ///
    /// - Parameter limit: the time for each statement; nil if only the catalog and the ledger are read.
    /// - Throws: the errors of the body; ``RowQuery/Problem`` where the time was over, or the database refused a value;
    ///   ``FeedModel/StoreError``.
    func browse<Value>(within limit: Duration?, _ body: (TableReader) throws -> Value) throws -> Value
}

extension BrowsingStore {
    package func browsedTables(_ names: Set<String>?) throws -> [BrowsedTable] {
        try browse(within: nil) { try $0.tables(names) }
    }

    package func browsedNames() throws -> [String: [String]] { try browse(within: nil) { try $0.names() } }

    package func browsedTable(_ name: String) throws -> BrowsedTable? {
        try browse(within: nil) { try $0.table(name) }
    }

    package func rows(_ query: RowQuery, within limit: Duration, _ body: (BrowsedRow) throws -> Bool) throws {
        try browse(within: limit) { try $0.rows(query, body) }
    }

    package func values(
        of column: String, _ query: RowQuery, most: Int, within limit: Duration
    ) throws -> ValueCounts {
        try browse(within: limit) { try $0.values(of: column, query, most: most) }
    }

    package func row(_ key: [StoredValue], of table: String, within limit: Duration) throws -> BrowsedRow? {
        try browse(within: limit) { try $0.row(key, of: table) }
    }

    package func writings(
        of key: [StoredValue], in table: String, declared keys: [[String]], most: Int, within limit: Duration
    ) throws -> [RowWriting] {
        try browse(within: limit) { try $0.writings(of: key, in: table, declared: keys, most: most) }
    }

    package func history(
        of key: [StoredValue], in table: String, most: Int, within limit: Duration
    ) throws -> [RowChange]? {
        try browse(within: limit) { try $0.history(of: key, in: table, most: most) }
    }
}
