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

    /// Creates the error of a transaction that failed as a whole.
    ///
    /// - Parameter verb: what cannot be done with the store.
    init(commit error: DatabaseError, path: String, verb: String = "written") {
        let message = error.message ?? error.description
        switch error.resultCode {
        case .SQLITE_FULL:
            self.init(.database, "the store \(path) cannot grow: \(message); free space on its file system")
        case .SQLITE_BUSY:
            self.init(
                .database,
                "the store \(path) stayed locked by another process, for two minutes or until this one was to stop")
        case .SQLITE_CONSTRAINT:
            self.init(.constraint, message)
        default:
            self.init(.database, "the store \(path) cannot be \(verb): \(message)")
        }
    }
}

extension SQLiteStore {
    /// - Throws: the errors of the body; ``StoreError`` naming the store in place of SQLite's.
    func reading<Value>(_ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let error as DatabaseError {
            throw StoreError(commit: error, path: path, verb: "read")
        }
    }

    /// - Throws: the errors of the body; ``StoreError`` naming the store in place of SQLite's.
    func writing<Value>(_ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let error as DatabaseError { throw StoreError(commit: error, path: path) }
    }
}
