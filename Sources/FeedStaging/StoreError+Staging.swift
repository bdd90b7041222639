package import FeedModel
import GRDB

extension StoreError {
    /// Creates the error for a failure of the scratch database.
    init(scratch error: any Error) {
        if let error = error as? StoreError {
            self = error
        } else if let error = error as? DatabaseError {
            self.init(.database, "the worker context cannot be written: \(error.message ?? error.description)")
        } else {
            self.init(.database, "the worker context cannot be written: \(error)")
        }
    }

    /// Returns the error for NaN, which SQLite would store as NULL, a different value.
    static func notANumber(column: String) -> StoreError {
        StoreError(
            .limit, "the value of column '\(column)' is NaN, which SQL does not have; make it nil, or leave it out")
    }

    /// Creates the error for several records with one key, where none may be.
    ///
    /// - Parameter row: the key, as errors show it.
    package static func duplicates(in table: StagingTable, _ row: String) -> StoreError {
        StoreError(
            .constraint,
            "table '\(table.table.name)': several records of the feed have the key \(row), and duplicates = \"discard\" "
                + "allows none")
    }
}
