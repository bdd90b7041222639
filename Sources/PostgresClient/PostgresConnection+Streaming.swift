import CLibPQ

extension PostgresConnection {
    package enum RowFlow: Sendable {
        case next
        case stop
    }

    /// Passes rows on as they come, one by one, in constant memory. A row's values are gone with the next row.
    ///
    /// Where the body stops outside of a transaction, or throws, the statement is cancelled. In a transaction cancelling would
    /// spoil the transaction; where the body stops there, the rest of the rows is read and dropped.
    ///
    /// - Throws: ``PostgresError``, or what the body throws. Rows may have been passed on before the error.
    package func forEachRow(
        of sql: String, _ parameters: [PostgresValue?] = [], _ body: (PostgresRow) throws -> RowFlow
    ) throws {
        let isInTransaction = transactionStatus == .inTransaction
        try send(sql, parameters)
        guard PQsetSingleRowMode(try open()) == 1 else { throw lostError() }
        isInSingleRowMode = true
        while let result = try nextResult() {
            if let error = error(result) {
                try drain()
                throw error
            }
            if try endCopy(result) {
                try drain()
                throw PostgresError(.misuse, "COPY has no rows; it has calls of its own", server: address)
            }
            guard PQresultStatus(result.result) == PGRES_SINGLE_TUPLE else { continue }
            do {
                guard case .stop = try body(result[0]) else { continue }
                if !isInTransaction { try? cancellation.cancel() }
            } catch {
                // Where the server cannot be reached, draining finds it out as well.
                try? cancellation.cancel()
                try? drain()
                throw error
            }
            return try drain()
        }
    }
}
