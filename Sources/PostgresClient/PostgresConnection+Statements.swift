import CLibPQ

extension PostgresConnection {
    /// Executes one statement with parameters `$1`, `$2` and so on, and takes its whole answer into memory.
    ///
    /// - Throws: ``PostgresError``. In a transaction nothing but a rollback is possible then.
    @discardableResult
    package func execute(_ sql: String, _ parameters: [PostgresValue?] = []) throws -> PostgresResult {
        try send(sql, parameters)
        return try lastResult()
    }

    /// Starts a statement by the extended protocol. Its results must be taken, all of them.
    func send(_ sql: String, _ parameters: [PostgresValue?]) throws {
        let connection = try ready(for: sql)
        let encoded = try StatementParameters(parameters, server: address)
        guard encoded.send(sql, over: connection) else { throw lostError() }
        isInSingleRowMode = false
    }

    /// - Throws: ``PostgresError`` if another statement of this connection is in progress, whose rows are being read.
    func ready(for sql: String) throws -> OpaquePointer {
        let connection = try open()
        guard !sql.utf8.contains(0) else {
            throw PostgresError(.value, "the statement holds U+0000", server: address)
        }
        guard PQtransactionStatus(connection) != PQTRANS_ACTIVE else {
            throw PostgresError(
                .misuse, "another statement is running on this connection; end it first", server: address)
        }
        return connection
    }

    /// Takes all results of a command, and returns the last.
    ///
    /// - Parameter failure: what else is to be known of an error, by the number of results before it.
    func lastResult(_ failure: (inout PostgresError, Int) -> Void = { _, _ in }) throws -> PostgresResult {
        var last: PostgresResult?
        var first: PostgresError?
        var count = 0
        while let result = try nextResult() {
            if try endCopy(result) {
                first =
                    first ?? PostgresError(.misuse, "COPY has no data here; it has calls of its own", server: address)
            } else if var error = error(result), first == nil {
                failure(&error, count)
                first = error
            }
            last = result
            count += 1
        }
        if let first { throw first }
        guard let last else { throw lostError() }
        return last
    }
}

extension PostgresConnection {
    /// Executes a script of many statements, in one transaction unless it has its own or the connection is in one.
    ///
    /// - Parameter line: the line on which the script begins.
    /// - Returns: the last statement's result.
    /// - Throws: ``PostgresError`` with the line of the statement that failed, or of the place in it.
    @discardableResult
    package func executeScript(_ sql: String, line firstLine: Int = 1) throws -> PostgresResult {
        let connection = try ready(for: sql)
        guard PQsendQuery(connection, sql) == 1 else { throw lostError() }
        return try lastResult { error, results in
            let line =
                error.position.map { SQLScript.line(of: $0, in: sql) }
                ?? SQLScript.line(ofStatement: results, in: sql)
            error.line = line.map { $0 + firstLine - 1 }
        }
    }
}
