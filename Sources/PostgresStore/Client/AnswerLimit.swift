import FeedModel
import Foundation

/// The limit of a wait for the server's answer. Every wait has one.
package enum AnswerLimit: Sendable {
    /// A question: the longest time for which the server may be silent.
    case question(Duration)
    /// A statement that may rightly take long, as a server says nothing before it is done. After each such time of silence,
    /// another connection asks whether the session still executes the statement (``SessionInquiry``).
    case working(askingAfter: Duration)

    /// Work that is asked about once a minute.
    package static let work = working(askingAfter: .seconds(60))

    var silence: Duration {
        switch self {
        case .question(let time), .working(let time): time
        }
    }
}

/// Asks the server by another connection whether a session still executes its statement.
///
/// A server that is reachable, but does nothing or cannot be understood, is else not distinguished from one that works. The
/// thread that waits for the session does not connect itself, since libpq's connecting cannot be stopped.
final class SessionInquiry: Sendable {
    enum Finding: Sendable, Equatable {
        case isOpen
        case isExecuting
        /// The session will not answer, for this reason.
        case isSilent(String)
    }

    /// The longest time for the answer, in which libpq also connects.
    static let limit = Duration.seconds(30)
    /// The time within which an answer arrives that was under way when the server said that the session is idle.
    private static let timeToArrive = Duration.seconds(1)

    private let deadline = ContinuousClock.now + limit
    private let answer = Mutex<Finding>(.isOpen)

    /// - Parameters:
    ///   - session: the number of the server's process.
    ///   - string: the connection string.
    init(about session: Int32, by string: String) {
        Thread.detachNewThread { [self] in
            let finding = Self.ask(about: session, by: string)
            answer.withLock { $0 = finding }
        }
    }

    var finding: Finding {
        let finding = answer.withLock(\.self)
        guard finding == .isOpen, deadline <= .now else { return finding }
        return .isSilent("another connection got no answer within \(Int(Self.limit / .seconds(1))) s either")
    }

    private static func ask(about session: Int32, by string: String) -> Finding {
        do {
            let connection = try PostgresConnection(string)
            defer { connection.close() }
            connection.answerLimit = .question(limit)
            guard try isIdle(session, connection) else { return .isExecuting }
            Thread.sleep(forTimeInterval: timeToArrive / .seconds(1))
            guard try isIdle(session, connection) else { return .isExecuting }
            return .isSilent("its answer was lost: the session has executed the statement, says pg_stat_activity")
        } catch let error as PostgresError where error.state != nil {
            // A server that refuses a connection, as all are in use, is there.
            return .isExecuting
        } catch {
            return .isSilent("another connection fails: \((error as? PostgresError)?.message ?? "\(error)")")
        }
    }

    /// Returns true if the session waits for its client. False for an unknown session: pgbouncer has numbers of its own,
    /// and another of several hosts has other sessions.
    private static func isIdle(_ session: Int32, _ connection: PostgresConnection) throws -> Bool {
        try !connection.execute(
            """
            SELECT FROM pg_catalog.pg_stat_activity
            WHERE pid = $1 AND datname = current_database() AND usename = session_user AND state LIKE 'idle%'
                AND application_name = current_setting('application_name')
            """, [.integer(Int64(session))]
        ).isEmpty
    }
}
