import CLibPQ

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
