package import FeedModel

/// Why PostgreSQL, or the way to it, did not do what was asked. It names the server and never holds a password.
package struct PostgresError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Kind: Sendable {
        /// The connection string cannot be read, its service cannot be found, or libpq cannot be loaded.
        case configuration
        /// No connection came about.
        case connecting
        /// The connection is gone; its transaction was rolled back, unless ``PostgresError/isCommitUnknown``.
        case connectionLost
        /// The server refused a statement.
        case statement
        /// A value that PostgreSQL cannot hold, or that is not of the type that was asked for.
        case value
        /// The connection was not in a state for the call: a mistake of the caller's.
        case misuse
    }

    package var kind: Kind
    /// Nil if the server said nothing.
    package var state: SQLState?
    /// ERROR, FATAL or PANIC, in every language.
    package var severity: String?
    package var message: String
    package var detail: String?
    package var hint: String?
    /// Where the server was: the line of a COPY, the function.
    package var context: String?
    package var schema: String?
    package var table: String?
    package var column: String?
    package var dataType: String?
    package var constraint: String?
    /// The place in the statement, counted in characters (Unicode scalars) from 1.
    package var position: Int?
    /// The line of the script, from 1.
    package var line: Int?
    package var server: ServerAddress?
    /// Nobody answered the COMMIT: only a look into the database tells whether it took place.
    package var isCommitUnknown = false
    /// The server was silent for longer than ``PostgresConnection/answerLimit``.
    package var isLate = false

    package init(_ kind: Kind, _ message: String, state: SQLState? = nil, server: ServerAddress? = nil) {
        self.kind = kind
        self.message = message
        self.state = state
        self.server = server
    }

    package var isConnectionLost: Bool { kind == .connectionLost }

    /// The same transaction may succeed when it is repeated at once, from its beginning, on a new connection if this
    /// one is lost. False if the commit may have taken place.
    package var isRepeatable: Bool {
        switch kind {
        case .connectionLost: !isCommitUnknown
        case .statement: state == .serializationFailure || state == .deadlockDetected
        case .configuration, .connecting, .value, .misuse: false
        }
    }

    /// A later attempt may succeed although nobody changes a setting, a declaration or a schema: the server is away, starting,
    /// full, a standby, or others are in the way.
    package var isTransient: Bool {
        switch kind {
        case .connectionLost: return true
        case .configuration, .value, .misuse: return false
        case .connecting, .statement: break
        }
        guard let state else { return kind == .connecting }
        switch state {
        case .lockNotAvailable, .queryCanceled, .readOnlyTransaction, .idleInTransactionTimeout: return true
        default: break
        }
        return ["08", "40", "53", "57", "58"].contains(state.classCode)
    }

    /// - Returns: the subject, what happened, and what to do about it, in this order.
    package var description: String { (server.map { "\($0): " } ?? "") + "\(finding)" }

    /// The problem, without the server's name, and what to do about it.
    package var finding: Finding {
        var text = (line.map { "line \($0): " } ?? "") + message
        if let state { text += " (\(state))" }
        if let detail { text += "; " + detail }
        if let context, kind == .statement { text += "; " + context.replacing("\n", with: "; ") }
        if isCommitUnknown { text += "; it is not known whether the transaction was committed" }
        return Finding(text, help: advice ?? hint)
    }
}
