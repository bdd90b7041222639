import CLibPQ

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
        cancellation.abandon()
    }

    /// Makes room for further prepared statements. In a transaction nothing is dropped, and what finds no room is not
    /// prepared.
    private func dropPreparedStatements(toTake statements: [PostgresStatement]) throws {
        guard prepared.count >= PreparedStatements.most, transactionStatus == .idle,
            statements.contains(where: { $0.isPrepared && prepared.name(of: $0.sql) == nil })
        else { return }
        try execute("DEALLOCATE ALL")
        prepared.removeAll()
    }
}
