import FeedModel
import FeedStaging
import FeedStores
import GRDB
import GRDBSQLite
import XMLStream

/// The writes of a transaction that receives another store's content.
extension SQLiteTransfer: TransferWriter {
    /// Does nothing: no other program writes to the file during the transaction.
    func lock(_ tables: [StoredTable]) {}

    func write(_ part: TransferPlan.Part, _ rows: ((TransferRow) throws -> Void) throws -> Void) throws {
        let columns = part.columns.map(\.to)
        // A column without an affinity keeps a decimal as a number, where a number keeps it.
        let decimals = columns.indices.filter {
            part.columns[$0].from.typeName == "numeric" && Affinity(declaredType: columns[$0].type) == .blob
        }
        let names = columns.map(\.sql).joined(separator: ", ")
        let places = columns.map { _ in "?" }.joined(separator: ", ")
        // It lives as long as the rows are written.
        let owner = try writing {
            try db.makeStatement(sql: "INSERT INTO \(part.to.sql) (\(names)) VALUES (\(places))")
        }
        try withExtendedLifetime(owner) {
            var count = 0
            try rows { row in
                count += 1
                for column in decimals { row.makeNumber(ofDecimal: column) }
                try insert(row, columns, owner.sqliteStatement, number: count)
            }
        }
    }

    private func insert(_ row: TransferRow, _ columns: [StoredTable.Column], _ statement: OpaquePointer, number: Int)
        throws
    {
        for index in columns.indices {
            let code = row.bind(index, to: statement)
            guard code != nil else {
                throw TransferProblem(
                    row: number, column: columns[index].name, message: "the value is NaN, which SQLite does not have")
            }
            guard code == SQLITE_OK else { throw failure(row: number) }
        }
        let code = sqlite3_step(statement)
        // Before it is reset, as that forgets nothing but the row.
        let problem = code == SQLITE_DONE ? nil : failure(row: number)
        sqlite3_reset(statement)
        if let problem { throw problem }
    }

    private func failure(row: Int) -> any Error {
        let code = ResultCode(rawValue: sqlite3_extended_errcode(db.sqliteConnection))
        let message = db.lastErrorMessage ?? "SQLite's error \(code.rawValue)"
        switch code.primaryResultCode {
        case .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_TOOBIG: return TransferProblem(row: row, message: message)
        default: return StoreError(commit: DatabaseError(resultCode: code, message: message), path: store.path)
        }
    }

    func write(_ requests: [RequestRow]) throws {
        try writing {
            for request in requests {
                var state = request.state
                state.schema = try store.tableInfos.mark(of: state.tables, in: db)
                try db.ledger.requests.write([state], of: request.source)
            }
        }
    }

    /// Numbers go on by themselves.
    func finish(_ tables: [StoredTable]) throws {
        try writing {
            for table in tables {
                try db.checkForeignKeys(of: table.name, ending: "its parent is in neither store, and nothing was moved")
            }
        }
    }

    private func writing<Value>(_ body: () throws -> Value) throws -> Value { try store.writing(body) }
}

extension TransferRow {
    /// Puts the number in the place of a decimal's text, as mappings do where it is the same decimal.
    fileprivate func makeNumber(ofDecimal column: Int) {
        guard case .text(let range) = values[column] else { return }
        let number = withBytes(range) { bytes in
            bytes.withMemoryRebound(to: UInt8.self) { text in
                Lexical.isDecimal(text, exponent: false) ? Lexical.exactNumber(text) : nil
            }
        }
        switch number {
        case .integer(let integer)?: values[column] = .integer(integer)
        case .real(let real)?: values[column] = .real(real)
        case nil: break
        }
    }

    /// Binds a value as the statement's parameter of the same position, as long as the row lives.
    ///
    /// - Returns: SQLite's result; nil for a number that it would store as NULL.
    fileprivate func bind(_ index: Int, to statement: OpaquePointer) -> Int32? {
        let parameter = Int32(index + 1)
        // SQLite makes a copy: the row's memory may move.
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        switch values[index] {
        case .null: return sqlite3_bind_null(statement, parameter)
        case .integer(let integer): return sqlite3_bind_int64(statement, parameter, integer)
        case .real(let real): return real.isNaN ? nil : sqlite3_bind_double(statement, parameter, real)
        case .text(let range):
            return withBytes(range) { bytes in
                // Without an address the value would be NULL.
                guard let start = bytes.baseAddress else {
                    return sqlite3_bind_text(statement, parameter, "", 0, transient)
                }
                return sqlite3_bind_text64(
                    statement, parameter, start.assumingMemoryBound(to: CChar.self), UInt64(bytes.count), transient,
                    UInt8(SQLITE_UTF8))
            }
        case .blob(let range):
            return withBytes(range) { bytes in
                guard let start = bytes.baseAddress, !bytes.isEmpty else {
                    return sqlite3_bind_zeroblob(statement, parameter, 0)
                }
                return sqlite3_bind_blob64(statement, parameter, start, UInt64(bytes.count), transient)
            }
        }
    }
}
