import GRDBSQLite

/// What SQLite asks while it compiles an expression: whether it may read a column or call a function.
final class ExpressionGuardian {
    /// Functions that give another value each time, or reach beyond the expression.
    static let forbidden: Set<String> = [
        "changes", "current_date", "current_time", "current_timestamp", "last_insert_rowid", "load_extension", "random",
        "randomblob", "sqlite_log", "sqlite_offset", "total_changes",
    ]

    private var columns: Set<String> = []
    /// The columns that have been read, in lower case.
    private(set) var reads: Set<String> = []
    /// The function that was refused.
    private(set) var refusedFunction: String?
    /// The column that was refused.
    private(set) var refusedColumn: String?
    private(set) var known: [String] = []
    /// The number of SELECTs that may still be compiled; nil for any number.
    var selectsLeft: Int?
    /// Forbidden functions, in lower case, that have been reported and are allowed from then on: so that the next mistake is found.
    var allowedOnce: Set<String> = []

    /// Starts to watch over a connection, which must not outlive the guardian before ``end(_:)``.
    func begin(_ connection: OpaquePointer, columns: [String]) {
        known = columns
        self.columns = Set(columns.map { $0.lowercased() })
        refusedFunction = nil
        refusedColumn = nil
        forgetReads()
        sqlite3_set_authorizer(
            connection,
            { context, action, first, second, _, _ in
                guard let context else { return SQLITE_DENY }
                let guardian = Unmanaged<ExpressionGuardian>.fromOpaque(context).takeUnretainedValue()
                switch action {
                case SQLITE_READ: return guardian.reads(table: first, column: second)
                case SQLITE_FUNCTION: return guardian.calls(second)
                case SQLITE_SELECT: return guardian.selects()
                default: return SQLITE_OK
                }
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    func end(_ connection: OpaquePointer) {
        sqlite3_set_authorizer(connection, nil, nil)
        selectsLeft = nil
    }

    func forgetReads() { reads = [] }

    private func reads(table: UnsafePointer<CChar>?, column: UnsafePointer<CChar>?) -> Int32 {
        guard let table, let column else { return SQLITE_OK }
        // To define a table, SQLite reads its own.
        guard [ExpressionDatabase.record, "tributary_check"].contains(String(cString: table)) else { return SQLITE_OK }
        let name = String(cString: column)
        // An expression without a column reads the table, and no column of it.
        guard !name.isEmpty else { return SQLITE_OK }
        guard columns.contains(name.lowercased()) else {
            if name != "tributary_value" { refusedColumn = name.lowercased() }
            return name == "tributary_value" ? SQLITE_OK : SQLITE_DENY
        }
        reads.insert(name.lowercased())
        return SQLITE_OK
    }

    private func selects() -> Int32 {
        guard let left = selectsLeft else { return SQLITE_OK }
        selectsLeft = left - 1
        return left > 0 ? SQLITE_OK : SQLITE_DENY
    }

    private func calls(_ function: UnsafePointer<CChar>?) -> Int32 {
        guard let function else { return SQLITE_OK }
        let name = String(cString: function).lowercased()
        guard Self.forbidden.contains(name), !allowedOnce.contains(name) else { return SQLITE_OK }
        refusedFunction = name
        return SQLITE_DENY
    }
}
