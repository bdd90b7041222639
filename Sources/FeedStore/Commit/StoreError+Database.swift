import FeedModel
import GRDB

extension DatabaseError {
    /// True if a value exists already that must be unique.
    var breaksUniqueness: Bool {
        [.SQLITE_CONSTRAINT_UNIQUE, .SQLITE_CONSTRAINT_PRIMARYKEY, .SQLITE_CONSTRAINT_ROWID].contains(
            extendedResultCode)
    }

    var breaksForeignKey: Bool { extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY }
}

extension StoreError {
    /// Creates the error for SQLite's refusal of a merge statement.
    init(_ error: DatabaseError, in table: String) {
        let message = error.message ?? error.description
        switch error.resultCode {
        case .SQLITE_CONSTRAINT: self.init(.constraint, "table '\(table)': \(message)")
        default: self.init(.database, "table '\(table)': \(message)")
        }
    }

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
