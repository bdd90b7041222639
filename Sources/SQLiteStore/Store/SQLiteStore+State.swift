package import FeedModel
import FeedStaging
package import FeedStores
import Foundation
import GRDB

/// Tributary's own tables, and reads of feeds' tables that go with them.
extension SQLiteStore {
    package func read<Value>(_ body: (Ledger) throws -> Value) throws -> Value {
        try reading { try pool.read { try body(ledger($0)) } }
    }

    package func write<Value>(_ body: (Ledger) throws -> Value) throws -> Value {
        try writing { try pool.write { try body(ledger($0)) } }
    }

    package func writeInGroup(_ body: @escaping @Sendable (Ledger) throws -> Void) async throws {
        try await transactInGroup { [self] in try body(ledger($0)) }
    }

    package func states(of source: String) throws -> (source: SourceState, requests: [String: RequestState]) {
        // One statement on a separate connection: a transaction and a place in the pool would each double its cost.
        try reading {
            try states.unsafeRead { db in
                try db.ledger.sources.states(of: source) { try tableInfos.stands($0.schema, of: $0.tables, in: db) }
            }
        }
    }

    /// Returns how a table compares the columns of scopes.
    package func comparison(of table: String, scopes: [[String: String]]) throws -> TableComparison {
        try reading {
            try states.unsafeRead { try tableInfos.comparison(of: table, columns: scopes.columns, in: $0) }
        }
    }

    /// Returns the value of an SQL expression over the rows of a table, within a scope; nil for NULL.
    package func value(of expression: String, in table: String, scope: [String: String]) throws -> String? {
        let conditions = scope.sorted { $0.key < $1.key }.map { "\($0.key.sqlIdentifier) = \($0.value.sqlLiteral)" }
        let filter = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
        do {
            return try pool.read {
                try String.fetchOne($0, sql: "SELECT \(expression) FROM \(table.sqlIdentifier)\(filter)")
            }
        } catch let error as DatabaseError {
            throw StoreError(.schema, "${last:\(expression)} of table '\(table)': \(error.message ?? "\(error)")")
        }
    }

    package func holdHook(_ name: String) throws -> Bool {
        try hookLocks.withLock { locks in
            if locks[name] != nil { return true }
            guard let lock = try RunLock(hook: name, storePath: path) else { return false }
            locks[name] = lock
            return true
        }
    }

    package func releaseHook(_ name: String) throws {
        hookLocks.withLock { $0.removeValue(forKey: name) }?.unlock()
    }
}

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
    ///
    /// - Parameter advice: what to do about it, for the end of SQLite's message.
    init(_ error: DatabaseError, in table: String, advice: String = "") {
        let message = error.message ?? error.description
        switch error.resultCode {
        case .SQLITE_CONSTRAINT where message.hasPrefix("NOT NULL constraint failed: \(table)."):
            let column = message.dropFirst("NOT NULL constraint failed: \(table).".count)
            self.init(.constraint, "table '\(table)': \(Self.unfilled(column))")
        case .SQLITE_CONSTRAINT: self.init(.constraint, "table '\(table)': \(message)")
        default: self.init(.database, "table '\(table)': \(message)\(advice)")
        }
    }

    /// Creates the error of a store in a folder that does not exist; nil if it does.
    package init?(folderOf path: String) {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard access(folder, F_OK) != 0, errno == ENOENT else { return nil }
        self.init(
            .unavailable,
            "the store \(path) cannot be opened: the folder \(folder) does not exist",
            help: "create it, or name another path")
    }

    /// Creates the error of a store that SQLite does not open.
    init(opening path: String, _ error: DatabaseError) {
        if error.resultCode == .SQLITE_CANTOPEN, let missing = StoreError(folderOf: path) {
            self = missing
            return
        }
        var isFolder: ObjCBool = false
        _ = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
        let message = error.message ?? error.description
        let (fault, help): (String, String?) =
            switch error.resultCode {
            case _ where isFolder.boolValue: ("is a folder", "name a file")
            case .SQLITE_NOTADB: ("cannot be opened: \(message); it is not an SQLite database, or it is encrypted", nil)
            case .SQLITE_CANTOPEN:
                (
                    "cannot be opened: \(message)",
                    "check that its folder exists, and that this user may write there"
                )
            case .SQLITE_CORRUPT: ("is damaged: \(message)", "restore a backup")
            default: ("cannot be opened: \(message)", nil)
            }
        self.init(.unavailable, "the store \(path) \(fault)", help: help)
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
