import CLibPQ

/// Channels. pgbouncer in transaction mode cannot listen; sending goes through it.
extension PostgresConnection {
    package func listen(to channel: String) throws { try execute("LISTEN \(channel.postgresIdentifier)") }

    package func unlisten(_ channel: String) throws { try execute("UNLISTEN \(channel.postgresIdentifier)") }

    /// Sends a message when the transaction commits, at once outside of one. Equal ones of one transaction are sent once.
    ///
    /// - Parameter payload: at most 7,999 bytes.
    package func notify(_ channel: String, _ payload: String) throws {
        try execute("SELECT pg_notify($1, $2)", [.text(channel), .text(payload)])
    }

    /// Waits for messages, unless some have come already.
    ///
    /// - Parameter timeout: nil waits without end.
    /// - Returns: none when the time is over, or when ``PostgresCancellation/wake()`` was called.
    /// - Throws: ``PostgresError`` if the connection is lost.
    package func notifications(timeout: Duration? = nil) throws -> [PostgresNotification] {
        let deadline = timeout.map { ContinuousClock.now + $0 }
        let connection = try ready(for: "")
        while true {
            let notifications = takeNotifications()
            if !notifications.isEmpty { return notifications }
            if isWoken {
                isWoken = false
                return []
            }
            guard try wait(until: deadline) != .timeout else { return [] }
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
                    channel: text(notification.pointee.relname), payload: text(notification.pointee.extra),
                    sender: notification.pointee.be_pid))
            PQfreemem(notification)
        }
        return notifications
    }
}

/// A message on a channel ("NOTIFY").
package struct PostgresNotification: Sendable, Equatable {
    package var channel: String
    package var payload: String
    /// The process id of the session that sent it.
    package var sender: Int32
}
