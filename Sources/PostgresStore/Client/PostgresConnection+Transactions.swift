import CLibPQ

extension PostgresConnection {
    package enum Isolation: String, Sendable {
        case readCommitted = "READ COMMITTED"
        case repeatableRead = "REPEATABLE READ"
    }

    /// Runs a body in a transaction, and commits it; if the body throws, rolls it back. Afterwards the connection is in no
    /// transaction, or lost.
    ///
    /// - Parameter settings: what is set for the transaction, in the round trip of its BEGIN.
    /// - Throws: what the body throws, or ``PostgresError``. ``PostgresError/isCommitUnknown`` tells that the server was asked
    ///   to commit and did not answer, within ``commitLimit`` or ever.
    package func inTransaction<Value>(
        _ isolation: Isolation = .readCommitted, isReadOnly: Bool = false,
        settings: [(name: String, value: String)] = [], _ body: () throws -> Value
    ) throws -> Value {
        guard transactionStatus != .inTransaction, transactionStatus != .failed else {
            throw PostgresError(.misuse, "the connection is in a transaction already", server: address)
        }
        // No connection pool keeps these two across transactions, and a role may have other values: doubles with all their
        // digits, and the shorter text of `bytea`.
        let all = [("extra_float_digits", "1"), ("bytea_output", "hex")] + settings
        try executeScript(
            """
            BEGIN ISOLATION LEVEL \(isolation.rawValue)\(isReadOnly ? ", READ ONLY" : "");
            \(all.map { "SET LOCAL \($0.0) = \($0.1)" }.joined(separator: "; "))
            """)
        let value: Value
        do { value = try body() } catch {
            rollBack()
            throw error
        }
        try commit()
        return value
    }

    private func commit() throws { try commit { try execute("COMMIT") } }

    /// Sends the last statements of the transaction and its COMMIT in one flight.
    ///
    /// - Returns: the results of the statements.
    /// - Throws: ``PostgresError``, as ``inTransaction(_:isReadOnly:_:)`` does. The transaction is then rolled back, or its
    ///   outcome is unknown.
    @discardableResult
    package func commit(after statements: [PostgresStatement]) throws -> [PostgresResult] {
        var results: [PostgresResult] = []
        try commit {
            results = try pipeline(statements + [PostgresStatement("COMMIT")]).results()
            return results.removeLast()
        }
        return results
    }

    private func commit(_ command: () throws -> PostgresResult) throws {
        let result: PostgresResult
        answerDeadline = .now + commitLimit
        defer { answerDeadline = nil }
        do { result = try command() } catch var error as PostgresError {
            error.isCommitUnknown = error.isConnectionLost
            rollBack()
            throw error
        }
        // COMMIT ends a failed transaction without an error, by rolling it back.
        guard result.command == "COMMIT" else {
            throw PostgresError(
                .statement, "the transaction was rolled back: a statement in it had failed before",
                state: .inFailedTransaction, server: address)
        }
    }

    /// Leaves no transaction open, on a connection that still stands.
    package func rollBack() {
        guard transactionStatus != .idle, transactionStatus != .unknown else { return }
        _ = try? execute("ROLLBACK")
    }

    /// Runs a body within the transaction; if it throws, undoes what it did, and the transaction can go on. Savepoints nest.
    ///
    /// - Throws: what the body throws, or ``PostgresError``.
    package func inSavepoint<Value>(_ body: () throws -> Value) throws -> Value {
        // The last savepoint of a name hides the earlier ones.
        try execute("SAVEPOINT tributary")
        let value: Value
        do { value = try body() } catch {
            _ = try? executeScript("ROLLBACK TO SAVEPOINT tributary; RELEASE SAVEPOINT tributary")
            throw error
        }
        try execute("RELEASE SAVEPOINT tributary")
        return value
    }
}

extension PostgresError {
    /// - Parameter advice: what stands above the message's own.
    static func connecting(_ message: String, _ kind: Kind, advice: String?, server: ServerAddress) -> PostgresError {
        var error = PostgresError(kind, message, state: state(ofConnecting: message), server: server)
        error.hint = advice
        return error
    }

    /// libpq does not tell the code of a refusal at the start, only its text. In another language of the server's messages the
    /// error has no code, and the text stands alone.
    private static func state(ofConnecting message: String) -> SQLState? {
        let states: [(String, SQLState)] = [
            ("password authentication failed", .invalidPassword), ("no password supplied", .invalidPassword),
            ("no pg_hba.conf entry", .invalidAuthorization),
            ("authentication failed", .invalidAuthorization), ("pg_hba.conf rejects", .invalidAuthorization),
            ("is not permitted to log in", .invalidAuthorization),
            ("permission denied for database", .insufficientPrivilege),
            ("too many connections", .tooManyConnections), ("too many clients", .tooManyConnections),
            ("remaining connection slots", .tooManyConnections), ("no more connections allowed", .tooManyConnections),
            ("the database system is", .cannotConnectNow),
        ]
        if let state = states.first(where: { message.contains($0.0) })?.1 { return state }
        guard message.contains("FATAL:"), message.contains("does not exist") else { return nil }
        return message.contains("database \"") ? .unknownDatabase : .invalidAuthorization
    }
}

extension PostgresConnection {
    /// - Returns: nil if the result is none of an error.
    func error(_ result: PostgresResult) -> PostgresError? {
        let result = result.result
        switch PQresultStatus(result) {
        case PGRES_FATAL_ERROR, PGRES_BAD_RESPONSE, PGRES_NONFATAL_ERROR: break
        default: return nil
        }
        func field(_ code: Character) -> String? {
            // The codes are ASCII letters by definition (libpq's PG_DIAG_…).
            PQresultErrorField(result, Int32(code.asciiValue!)).map { String(cString: $0) }
        }
        let severity = field("V") ?? field("S")
        let isLost = connection.map { PQstatus($0) != CONNECTION_OK } ?? true
        let isFatal = severity == "FATAL" || severity == "PANIC"
        var error = PostgresError(
            isLost || isFatal ? .connectionLost : .statement,
            field("M") ?? trimmed(text(PQresultErrorMessage(result))), state: field("C").map { SQLState(rawValue: $0) },
            server: address)
        error.severity = severity
        error.detail = field("D")
        error.hint = field("H")
        error.context = field("W")
        error.schema = field("s")
        error.table = field("t")
        error.column = field("c")
        error.dataType = field("d")
        error.constraint = field("n")
        error.position = field("P").flatMap { Int($0) }
        return error
    }

    /// For a call of libpq's that failed without a result.
    func lostError() -> PostgresError {
        let message = trimmed(text(connection.map { PQerrorMessage($0) } ?? nil))
        return PostgresError(
            .connectionLost, message.isEmpty ? "the connection is gone" : message, server: address)
    }

    func abandonedError() -> PostgresError {
        PostgresError(.connectionLost, "the connection was given up from this side", server: address)
    }
}
