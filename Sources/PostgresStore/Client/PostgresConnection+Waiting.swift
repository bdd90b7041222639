import CLibPQ
import Foundation

/// All waits for the server go through here, so that another thread can end each of them.
extension PostgresConnection {
    /// Waits until the socket is readable, or writable if asked for.
    ///
    /// - Parameter deadline: nil waits without end.
    /// - Returns: false once the deadline has passed.
    /// - Throws: ``PostgresError`` once the connection has been abandoned, or has no socket any more.
    func wait(forWriting: Bool = false, until deadline: ContinuousClock.Instant? = nil) throws -> Bool {
        let socket = PQsocket(try open())
        guard socket >= 0 else { throw lostError() }
        var descriptors = [
            pollfd(fd: socket, events: Int16(POLLIN) | (forWriting ? Int16(POLLOUT) : 0), revents: 0),
            pollfd(fd: interrupt.readEnd, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            let count = poll(&descriptors, nfds_t(descriptors.count), Self.milliseconds(until: deadline))
            if count < 0 && errno != EINTR && errno != EAGAIN { throw lostError() }
            if descriptors[1].revents != 0 && count > 0 { throw abandonedError() }
            if count > 0 { return true }
            if let deadline, ContinuousClock.now >= deadline { return false }
        }
    }

    /// Rounded up, so that a wait that has ended by it is over.
    private static func milliseconds(until deadline: ContinuousClock.Instant?) -> Int32 {
        guard let deadline else { return -1 }
        let rest = max(.zero, ContinuousClock.now.duration(to: deadline))
        let milliseconds = rest / .milliseconds(1)
        return Int32(min(milliseconds.rounded(.up), 1_000_000_000))
    }

    /// Waits for the answer to the command in progress.
    ///
    /// - Throws: ``PostgresError`` if it did not come by ``answerDeadline``, or within ``answerLimit``: the connection
    ///   is given up then.
    private func waitForAnswer(forWriting: Bool = false) throws {
        var end = ContinuousClock.now + answerLimit.silence
        var inquiry: SessionInquiry?
        while try !wait(forWriting: forWriting, until: min(end, answerDeadline ?? end)) {
            if let answerDeadline, answerDeadline <= .now {
                interrupt.abandon()
                throw PostgresError(
                    .connectionLost, "the server did not answer in time, and was given up", server: address)
            }
            guard case .working = answerLimit else { throw lateError() }
            let asked = inquiry ?? SessionInquiry(about: backendPID, by: string.text)
            switch asked.finding {
            case .isOpen:
                inquiry = asked
                end = .now + Self.timeBetweenLooks
            case .isExecuting:
                inquiry = nil
                end = .now + answerLimit.silence
            case .isSilent(let reason): throw lateError(reason)
            }
        }
    }

    /// The time between two looks at an inquiry about the session.
    private static let timeBetweenLooks = Duration.milliseconds(100)

    /// Gives the connection up.
    ///
    /// - Parameter reason: the reason to expect no answer.
    private func lateError(_ reason: String? = nil) -> PostgresError {
        // The server would go on, and wait for a lock, without its client.
        interrupt.giveUp()
        var error = PostgresError(
            .connectionLost,
            "the server did not answer within \(Int(answerLimit.silence / .seconds(1))) s"
                + (reason.map { ", and \($0)" } ?? "; pg_stat_activity shows what its sessions wait for"),
            server: address)
        error.isLate = true
        return error
    }

    /// Sends all that libpq holds, and takes in what the server says meanwhile: neither waits for the other.
    func flush() throws {
        let connection = try open()
        while true {
            switch PQflush(connection) {
            case 0: return
            case 1:
                try waitForAnswer(forWriting: true)
                guard PQconsumeInput(connection) == 1 else { return }
            default: return  // The next result says why.
            }
        }
    }

    /// - Returns: nil once the server is ready for the next command.
    func nextResult() throws -> PostgresResult? {
        let connection = try open()
        try flush()
        while PQisBusy(connection) == 1 {
            try waitForAnswer()
            // The last words of a server that hangs up may be there all the same.
            guard PQconsumeInput(connection) == 1 else { break }
        }
        return PQgetResult(connection).map { PostgresResult($0, server: address) }
    }

    /// Takes all results of a command that nobody wants any more.
    func drain() throws {
        while let result = try nextResult() { try endCopy(result) }
    }

    /// Ends a COPY that nobody serves, without which no further result would come.
    ///
    /// - Returns: true if it was one.
    @discardableResult
    func endCopy(_ result: PostgresResult) throws -> Bool {
        switch PQresultStatus(result.result) {
        case PGRES_COPY_IN, PGRES_COPY_BOTH:
            try putCopyEnd(error: "COPY FROM STDIN is not possible here")
            return true
        case PGRES_COPY_OUT:
            try skipCopyData()
            return true
        default: return false
        }
    }
}

/// Channels. pgbouncer in transaction mode cannot listen.
extension PostgresConnection {
    package func listen(to channel: String) throws { try execute("LISTEN \(channel.postgresIdentifier)") }

    /// Waits for messages, unless some have come already.
    ///
    /// - Parameter timeout: nil waits without end.
    /// - Returns: none when the time is over.
    /// - Throws: ``PostgresError`` if the connection is lost, or has been abandoned.
    package func notifications(timeout: Duration? = nil) throws -> [PostgresNotification] {
        let deadline = timeout.map { ContinuousClock.now + $0 }
        let connection = try ready(for: "")
        while true {
            let notifications = takeNotifications()
            if !notifications.isEmpty { return notifications }
            guard try wait(until: deadline) else { return [] }
            guard PQconsumeInput(connection) == 1 else {
                // The server says farewell before it hangs up.
                let farewell = takeNotifications()
                if !farewell.isEmpty { return farewell }
                throw lostError()
            }
        }
    }

    private func takeNotifications() -> [PostgresNotification] {
        var notifications: [PostgresNotification] = []
        while let notification = connection.flatMap({ PQnotifies($0) }) {
            notifications.append(
                PostgresNotification(
                    channel: text(notification.pointee.relname), payload: text(notification.pointee.extra)))
            PQfreemem(notification)
        }
        return notifications
    }
}

/// A message on a channel ("NOTIFY").
package struct PostgresNotification: Sendable, Equatable {
    package var channel: String
    package var payload: String
}
