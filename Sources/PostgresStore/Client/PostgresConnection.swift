import CLibPQ
import Foundation

/// A connection to PostgreSQL, used by one thread at a time. Calls block; other threads reach it by ``interrupt`` only.
///
/// The connection string is libpq's, with all that belongs to it: services, password files, several hosts,
/// `target_session_attrs`, TLS. The session speaks UTF-8, in UTC, with ISO dates, directly as well as through pgbouncer in
/// transaction mode. What the server reports as notices is dropped.
package final class PostgresConnection {
    /// A `PGconn`; nil once closed.
    private(set) var connection: OpaquePointer?
    package let interrupt: ConnectionInterrupt
    let string: ConnectionString
    package private(set) var address: ServerAddress
    /// The time by which the command in progress must be answered; nil for any.
    var answerDeadline: ContinuousClock.Instant?
    /// The limit of the wait for each answer.
    package var answerLimit = AnswerLimit.work
    /// What the session keeps prepared.
    var prepared = PreparedStatements()
    /// True since the last statement's rows came one by one, until another is sent alone. libpq would give the rows of a
    /// pipeline's first statement one by one, too.
    var isInSingleRowMode = false
    /// The longest wait for the answer to COMMIT: that of a large transaction with deferred constraints, or of one whose
    /// standby is slow. Then its outcome counts as unknown.
    package var commitLimit = Duration.seconds(120)

    /// Connects, however long libpq's `connect_timeout` lets it; 10 s for each host where nothing sets it.
    ///
    /// - Parameter string: a URI, keywords and values, or the name of a database.
    /// - Parameter applicationName: where the string and PGAPPNAME give none.
    /// - Throws: ``PostgresError``.
    package init(_ string: String, applicationName: String = "tributary") throws {
        try LibPQ.load()
        self.string = try ConnectionString(string)
        address = self.string.address
        interrupt = try ConnectionInterrupt()
        // A later parameter stands above an earlier one, so those before `dbname` are defaults and the encoding is not.
        var parameters = Self.defaults.filter { self.string.options[$0.0] == nil }
        parameters += [("fallback_application_name", applicationName), ("dbname", string), ("client_encoding", "UTF8")]
        connection = ConnectionParameters(parameters).withPointers { PQconnectdbParams($0, $1, 1) }
        try startSession()
    }

    deinit { PQfinish(connection) }

    /// A server that cannot be reached any more is given up after thirty seconds; the system's own defaults are hours.
    /// A server that is busy, and takes no data meanwhile, may need as long.
    private static let defaults = [
        ("connect_timeout", "10"), ("keepalives_idle", "3"), ("keepalives_interval", "2"), ("keepalives_count", "2"),
        ("tcp_user_timeout", "30000"),
    ]

    /// Ends the session. Whatever transaction is open is rolled back by the server. Nothing happens the second time.
    package func close() {
        interrupt.follow(nil)
        PQfinish(connection)
        connection = nil
    }

    private func startSession() throws {
        guard let connection, PQstatus(connection) == CONNECTION_OK else {
            throw connectingError()
        }
        address = ServerAddress(
            host: text(PQhost(connection)), port: text(PQport(connection)), database: text(PQdb(connection)),
            user: text(PQuser(connection)))
        _ = PQsetNoticeReceiver(connection, { _, _ in }, nil)
        guard PQsetnonblocking(connection, 1) == 0 else { throw lostError() }
        interrupt.follow(connection)
        try setParameters()
    }

    /// Parameters are looked at, and set where they differ. Sent at the start, in `options`, they would make pgbouncer refuse the
    /// connection; set by a statement, pgbouncer takes note and sets them again for each server it uses. All but the encoding
    /// are usually right already.
    private func setParameters() throws {
        let settings = [
            ("client_encoding", "UTF8"), ("TimeZone", "UTC"), ("standard_conforming_strings", "on"),
            ("DateStyle", "ISO"),
        ].filter { name, value in
            guard let current = parameterStatus(name) else { return true }
            // As it is called where the system's time zone is the default.
            if current == "Etc/UTC" { return false }
            return name == "DateStyle" ? !current.hasPrefix(value) : current != value
        }
        guard !settings.isEmpty else { return }
        try executeScript(settings.map { "SET \($0) = '\($1)'" }.joined(separator: "; "))
    }

    private func connectingError() -> PostgresError {
        // libpq's question says less than the advice.
        let message = connection.map {
            string.redacted(trimmed(text(PQerrorMessage($0))))
                .replacing(#/\s*Is the server running [^?]*\?/#, with: "")
        }
        return .connecting(
            message ?? "memory is short", string.isRead ? .connecting : .configuration, advice: string.advice,
            server: string.address)
    }
}

extension PostgresConnection {
    /// The `PGconn`; an error once the connection has been closed or abandoned.
    func open() throws -> OpaquePointer {
        guard let connection else {
            throw PostgresError(.misuse, "the connection has been closed", server: address)
        }
        guard !interrupt.isAbandoned else { throw abandonedError() }
        return connection
    }

    /// False once the connection is known to be gone; it may be gone without this end knowing.
    package var isOpen: Bool {
        connection.map { PQstatus($0) == CONNECTION_OK && !interrupt.isAbandoned } ?? false
    }

    package var transactionStatus: TransactionStatus {
        guard let connection, !interrupt.isAbandoned else { return .unknown }
        return switch PQtransactionStatus(connection) {
        case PQTRANS_IDLE: .idle
        case PQTRANS_ACTIVE: .active
        case PQTRANS_INTRANS: .inTransaction
        case PQTRANS_INERROR: .failed
        default: .unknown
        }
    }

    /// A parameter that the server reports at the start and on each change: `server_encoding`, `in_hot_standby` and others.
    package func parameterStatus(_ name: String) -> String? {
        connection.flatMap { PQparameterStatus($0, name) }.map { String(cString: $0) }
    }

    /// The encoding of the database. Only `UTF8` holds every text; `SQL_ASCII` takes any bytes and checks none.
    package var databaseEncoding: String? { parameterStatus("server_encoding") }

    /// 150018 for 15.18; 0 while there is no connection.
    package var serverVersion: Int { connection.map { Int(PQserverVersion($0)) } ?? 0 }

    /// The process id of the session's server process; pgbouncer's own number behind pgbouncer.
    package var backendPID: Int32 { connection.map { PQbackendPID($0) } ?? 0 }

    /// Where a session stands between statements ("PQtransactionStatus").
    package enum TransactionStatus: Sendable {
        case idle
        /// A statement runs.
        case active
        case inTransaction
        /// In a transaction in which a statement has failed: only a rollback is possible, of all or to a savepoint.
        case failed
        /// The connection is gone.
        case unknown
    }
}

/// The text of a C string that libpq owns; empty for none.
func text(_ pointer: UnsafePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }

/// libpq's messages end with a newline, and have more of them inside, followed by tabs.
func trimmed(_ message: String) -> String {
    message.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "; ")
}

/// PostgreSQL's client library, which is loaded when the first connection is opened. A process whose store is a file never
/// maps it, nor the libraries for TLS, Kerberos and LDAP behind it.
enum LibPQ {
    #if os(macOS)
        private static let files = [
            "libpq.5.dylib", "/opt/homebrew/opt/libpq/lib/libpq.5.dylib", "/usr/local/opt/libpq/lib/libpq.5.dylib",
        ]
    #else
        private static let files = ["libpq.so.5"]
    #endif

    /// Nil once the library is loaded. The first thread that asks loads it; others wait for that.
    private static let failure: PostgresError? = {
        var reason = ""
        for file in files {
            guard let message = tributary_libpq_load(file) else { return nil }
            reason = reason.isEmpty ? String(cString: message) : reason
            free(message)
        }
        var error = PostgresError(.configuration, "PostgreSQL's client library cannot be loaded (\(reason))")
        error.hint = "install the package libpq5, version 14 or later"
        return error
    }()

    /// Loads the library, once in a process.
    ///
    /// - Throws: ``PostgresError`` of the kind `configuration`, which names the package to install.
    static func load() throws {
        if let failure { throw failure }
    }
}
