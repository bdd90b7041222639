package import FeedModel
package import GRDB

extension DatabaseError {
    /// True for errors of files, false for errors of statements.
    package var isOfDisk: Bool {
        [.SQLITE_IOERR, .SQLITE_FULL, .SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_CORRUPT, .SQLITE_NOTADB].contains(
            resultCode)
    }
}

extension StoreError {
    /// Creates the error for a failure of the scratch database.
    init(scratch error: any Error, path: String) {
        if let error = error as? StoreError {
            self = error
            return
        }
        let reason = (error as? DatabaseError).map { $0.message ?? $0.description } ?? "\(error)"
        let isFull = (error as? DatabaseError)?.resultCode == .SQLITE_FULL
        let advice = isFull ? "; free space on its file system" : ""
        self.init(.database, "the scratch file \(path) cannot be used: \(reason)\(advice)")
    }

    /// Returns the error for NaN, which SQLite would store as NULL, a different value.
    static func notANumber(column: String) -> StoreError {
        StoreError(
            .limit, "the value of column '\(column)' is NaN, which SQL does not have; make it nil, or leave it out")
    }

    /// Creates the error for several records of a request with one key, where none may be.
    ///
    /// - Parameters:
    ///   - key: the key, as errors show it.
    ///   - count: the number of the records.
    ///   - row: the row id of one of them.
    package static func duplicates(
        in table: StagingTable, _ key: String, count: Int, row: Int64
    ) -> StoreError {
        var error = StoreError(
            .constraint,
            "table '\(table.table.name)': several records of the feed have the key \(key), \(count) in all, and "
                + "duplicates = \"discard\" allows one; correct 'key', or keep the \"first\" or \"last\" of them")
        error.requests = [Int(row >> Staging.requestBits)]
        return error
    }
}
