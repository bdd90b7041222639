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
    /// - Parameter line: the line on which the script begins; nil if no user has written it.
    /// - Returns: the last statement's result.
    /// - Throws: ``PostgresError`` with the line of the statement that failed, or of the place in it.
    @discardableResult
    package func executeScript(_ sql: String, line firstLine: Int? = 1) throws -> PostgresResult {
        let connection = try ready(for: sql)
        guard PQsendQuery(connection, sql) == 1 else { throw lostError() }
        return try lastResult { error, results in
            guard let firstLine else { return }
            let line =
                error.position.map { SQLScript.line(of: $0, in: sql) }
                ?? SQLScript.line(ofStatement: results, in: sql)
            error.line = line.map { $0 + firstLine - 1 }
        }
    }
}

/// libpq's pipeline mode ("Pipeline Mode"): several statements in one round trip.
extension PostgresConnection {
    /// Sends statements in one flight, and takes all of their answers into memory.
    ///
    /// Where a statement fails, the server skips those after it. Outside of a transaction, and without a BEGIN among them,
    /// the statements are one transaction. They must not be COPY.
    ///
    /// - Returns: what became of each statement, in their order.
    /// - Throws: ``PostgresError`` if nothing was sent, or the connection is lost. The latter leaves open which of
    ///   the statements have been executed.
    package func pipeline(_ statements: [PostgresStatement]) throws -> [PostgresOutcome] {
        try dropPreparedStatements(toTake: statements)
        let encoded = try statements.map { try StatementParameters($0.parameters, server: address) }
        for statement in statements { _ = try ready(for: statement.sql) }
        let connection = try open()
        guard PQenterPipelineMode(connection) == 1 else { throw lostError() }
        defer { leavePipeline() }
        var sent: [SentCommand] = []
        if isInSingleRowMode {
            guard try StatementParameters([]).send("", over: connection) else { throw lostError() }
            sent.append(SentCommand(index: nil))
            isInSingleRowMode = false
        }
        var preparing: [String: String] = [:]
        for (index, (statement, parameters)) in zip(statements, encoded).enumerated() {
            let sql = statement.sql
            guard let name = try prepare(statement, index, &preparing, &sent) else {
                guard parameters.send(sql, over: connection) else { throw lostError() }
                sent.append(SentCommand(index: index))
                continue
            }
            guard parameters.send(prepared: name, over: connection) else { throw lostError() }
            sent.append(SentCommand(index: index, isPrepared: true))
        }
        guard PQpipelineSync(connection) == 1 else { throw lostError() }
        return try outcomes(of: sent, count: statements.count)
    }

    /// Executes statements in one flight and takes their answers into memory. Outside of a transaction they are one. Within a
    /// transaction none is kept prepared: a statement that the server no longer has would end it.
    ///
    /// - Throws: ``PostgresError``
    @discardableResult
    package func execute(_ statements: [PostgresStatement]) throws -> [PostgresResult] {
        guard transactionStatus == .idle else { return try pipeline(statements.map(\.unprepared)).results() }
        do {
            return try pipeline(statements).results()
        } catch let error as PostgresError where error.isLostPreparation {
            return try pipeline(statements).results()
        }
    }

    /// A message that the server answers.
    private struct SentCommand {
        /// The statement's place; nil for one whose answer nobody needs.
        var index: Int?
        var isPrepared = false
        /// What is to be known once the answer has come; nil for an execution.
        var preparation: (sql: String, name: String)?
    }

    /// Sends the preparation of a statement unless it is prepared.
    ///
    /// - Returns: the name under which the statement is prepared; nil if it is not to be.
    private func prepare(
        _ statement: PostgresStatement, _ index: Int, _ preparing: inout [String: String], _ sent: inout [SentCommand]
    ) throws -> String? {
        let sql = statement.sql
        guard statement.isPrepared, prepared.isUsable else { return nil }
        if let name = prepared.name(of: sql) ?? preparing[sql] { return name }
        guard prepared.count + preparing.count < PreparedStatements.most else { return nil }
        let name = prepared.nextName()
        guard PQsendPrepare(try open(), name, sql, 0, nil) == 1 else { throw lostError() }
        preparing[sql] = name
        sent.append(SentCommand(index: index, preparation: (sql, name)))
        return name
    }

    private func outcomes(of sent: [SentCommand], count: Int) throws -> [PostgresOutcome] {
        var outcomes = [PostgresOutcome](repeating: .skipped, count: count)
        for command in sent {
            while let result = try nextResult() {
                if let error = error(result) {
                    // What follows it was not executed: it is the first statement's.
                    let index = command.index ?? 0
                    if outcomes.indices.contains(index) { outcomes[index] = .failure(error) }
                    if error.isConnectionLost { throw error }
                    if command.isPrepared || command.preparation != nil { prepared.note(error) }
                } else if PQresultStatus(result.result) == PGRES_PIPELINE_ABORTED {
                    continue
                } else if let (sql, name) = command.preparation {
                    prepared.keep(sql, as: name)
                } else if let index = command.index {
                    outcomes[index] = .result(result)
                }
            }
            guard PQstatus(try open()) == CONNECTION_OK else { throw lostError() }
        }
        guard let end = try nextResult(), PQresultStatus(end.result) == PGRES_PIPELINE_SYNC else { throw lostError() }
        return outcomes
    }

    /// A connection that cannot leave the mode has answers that nobody has taken: it is of no further use.
    private func leavePipeline() {
        guard let connection, PQexitPipelineMode(connection) != 1 else { return }
        interrupt.abandon()
    }

    /// Makes room for further prepared statements. In a transaction nothing is dropped, and what finds no room is not
    /// prepared.
    private func dropPreparedStatements(toTake statements: [PostgresStatement]) throws {
        guard prepared.count >= PreparedStatements.most, transactionStatus == .idle,
            statements.contains(where: { $0.isPrepared && prepared.name(of: $0.sql) == nil })
        else { return }
        // By their names: behind a pooler, the session may be another client's, too.
        let outcomes = try pipeline(prepared.allNames.map { PostgresStatement("DEALLOCATE \($0)") })
        prepared.removeAll()
        for case .failure(let error) in outcomes { prepared.note(error) }
    }
}

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
                if !isInTransaction { try? interrupt.cancel() }
            } catch {
                // Where the server cannot be reached, draining finds it out as well.
                try? interrupt.cancel()
                try? drain()
                throw error
            }
            return try drain()
        }
    }
}
