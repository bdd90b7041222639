import CLibPQ

/// The rows of one answer, in libpq's memory; a row's values are read where they lie.
package final class PostgresResult: RandomAccessCollection {
    let result: OpaquePointer
    private let server: ServerAddress?

    /// - Parameter result: a `PGresult`, which is this object's from now on.
    init(_ result: OpaquePointer, server: ServerAddress?) {
        self.result = result
        self.server = server
    }

    deinit { PQclear(result) }

    package var startIndex: Int { 0 }
    package var endIndex: Int { Int(PQntuples(result)) }
    package var columnCount: Int { Int(PQnfields(result)) }

    package var columnNames: [String] { (0..<columnCount).map { String(cString: PQfname(result, Int32($0))) } }

    /// Object ids of the columns' types; those that come with PostgreSQL are in ``PostgresType``.
    package var columnTypes: [UInt32] { (0..<columnCount).map { PQftype(result, Int32($0)) } }

    /// Rows that a command inserted, updated, deleted, copied or selected; 0 for those that do none of it.
    package var affectedRows: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }

    /// The command's tag: `INSERT 0 3`, `COMMIT`.
    package var command: String { String(cString: PQcmdStatus(result)) }

    /// The row, and a trap where there is none.
    package subscript(row: Int) -> PostgresRow {
        precondition(row >= 0 && row < count, "row \(row) of a result of \(count) rows")
        return PostgresRow(result: self, row: Int32(row))
    }

    func mismatch(_ row: Int32, _ column: Int, _ text: String, _ type: String) -> PostgresError {
        PostgresError(
            .value, "column '\(columnNames[column])', row \(row + 1): '\(text.prefix(100))' is no \(type)",
            server: server)
    }
}
