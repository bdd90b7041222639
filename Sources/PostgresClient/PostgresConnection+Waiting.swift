import CLibPQ
import Foundation

/// All waits for the server go through here, so that another thread can end each of them.
extension PostgresConnection {
    enum Wakeup {
        case socket
        case waker
        case timeout
    }

    /// Waits until the socket is readable, or writable if asked for.
    ///
    /// - Parameter deadline: nil waits without end.
    /// - Throws: ``PostgresError`` once the connection has been abandoned, or has no socket any more.
    func wait(forWriting: Bool = false, until deadline: ContinuousClock.Instant? = nil) throws -> Wakeup {
        let socket = PQsocket(try open())
        guard socket >= 0 else { throw lostError() }
        var descriptors = [
            pollfd(fd: socket, events: Int16(POLLIN) | (forWriting ? Int16(POLLOUT) : 0), revents: 0),
            pollfd(fd: cancellation.waker.readEnd, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            let count = poll(&descriptors, nfds_t(descriptors.count), Self.milliseconds(until: deadline))
            if count < 0 && errno != EINTR && errno != EAGAIN { throw lostError() }
            if descriptors[1].revents != 0 && count > 0 {
                cancellation.waker.clear()
                _ = try open()
                isWoken = true
                return .waker
            }
            if count > 0 { return .socket }
            if let deadline, ContinuousClock.now >= deadline { return .timeout }
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
    /// - Throws: ``PostgresError`` if it did not come by ``answerDeadline``: the connection is given up then.
    private func waitForAnswer(forWriting: Bool = false) throws {
        guard try wait(forWriting: forWriting, until: answerDeadline) == .timeout else { return }
        cancellation.abandon()
        throw PostgresError(.connectionLost, "the server did not answer in time, and was given up", server: address)
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
            while try nextCopyData({ _ in }) {}
            return true
        default: return false
        }
    }
}
