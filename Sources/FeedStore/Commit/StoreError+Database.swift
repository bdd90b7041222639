import FeedModel
import GRDB

extension DatabaseError {
    /// Whether a value is there already that may be there once.
    var breaksUniqueness: Bool {
        [.SQLITE_CONSTRAINT_UNIQUE, .SQLITE_CONSTRAINT_PRIMARYKEY, .SQLITE_CONSTRAINT_ROWID].contains(
            extendedResultCode)
    }

    var breaksForeignKey: Bool { extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY }
}

extension StoreError {
    /// What SQLite said of a statement of the merge.
    init(_ error: DatabaseError, in table: String) {
        let message = error.message ?? error.description
        switch error.resultCode {
        case .SQLITE_CONSTRAINT: self.init(.constraint, "table '\(table)': \(message)")
        default: self.init(.database, "table '\(table)': \(message)")
        }
    }

    /// What the scratch database threw.
    init(scratch error: any Error) {
        if let error = error as? StoreError {
            self = error
        } else if let error = error as? DatabaseError {
            self.init(.database, "the worker context cannot be written: \(error.message ?? error.description)")
        } else {
            self.init(.database, "the worker context cannot be written: \(error)")
        }
    }

    /// SQLite stores NaN as NULL, which would be another value.
    static func notANumber(column: String) -> StoreError {
        StoreError(
            .limit, "the value of column '\(column)' is NaN, which SQL does not have; make it nil, or leave it out")
    }
}
