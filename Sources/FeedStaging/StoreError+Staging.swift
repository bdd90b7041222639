import FeedModel
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
}
