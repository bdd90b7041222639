import FeedStores
import Foundation
import FeedModel

/// Receives a store's messages on a thread and a connection of its own.
final class Listener: StoreListening {
    private struct CommitMessage: Decodable {
        var source: String
        var daemon: String?
    }

    /// The seconds between two attempts to connect.
    private static let pause = 2.0
    /// The time without a message after which the listener asks whether the server answers.
    private static let silence = Duration.seconds(60)

    private let connectionString: String
    private let daemonID: String
    private let receive: @Sendable ([StoreMessage]) -> Void
    private let stopping = Stop()
    /// The ids of the requests in the table when it was last read; nil before.
    private let known = Mutex<Set<Int64>?>(nil)

    init(
        _ connectionString: String, daemonID: String, receive: @escaping @Sendable ([StoreMessage]) -> Void
    ) {
        self.connectionString = connectionString
        self.daemonID = daemonID
        self.receive = receive
    }

    func start() {
        Thread.detachNewThread { [self] in
            var isLost = false
            while !stopping.isRequested {
                do {
                    try follow { isLost = false }
                } catch {
                    if !isLost, !stopping.isRequested { receive([.lost("\(error)")]) }
                    isLost = true
                    // The loop ends when the listener is stopped meanwhile.
                    try? stopping.wait(for: DispatchSemaphore(value: 0), seconds: Self.pause)
                }
            }
        }
    }

    func stop() { stopping.request() }

    /// - Throws: `PostgresError` once the connection is lost; `CancellationError` once the listener is stopped.
    private func follow(_ onConnection: () -> Void) throws {
        let connection = try PostgresConnection(connectionString)
        defer { connection.close() }
        connection.answerLimit = .question(PostgresStore.leaseAnswerLimit)
        try stopping.whileStoppable(Stop.Work(end: connection.interrupt.abandon)) {
            try follow(connection, onConnection)
        }
    }

    private func follow(_ connection: PostgresConnection, _ onConnection: () -> Void) throws {
        // Requests of the time before this process are not for it; those that came while it was cut off are.
        if known.withLock({ $0 == nil }) { _ = try newRequests(connection) }
        try connection.listenAsDaemon()
        onConnection()
        receive([.daemonsChanged] + (try newRequests(connection)))
        while true {
            let notifications = try connection.notifications(timeout: Self.silence)
            var messages = notifications.compactMap(message)
            if notifications.isEmpty || notifications.contains(where: { $0.channel.hasPrefix(Channel.refresh) }) {
                messages += try newRequests(connection)
            }
            if !messages.isEmpty { receive(messages) }
        }
    }

    /// Returns the requests to refresh sources that this listener has not returned yet.
    private func newRequests(_ connection: PostgresConnection) throws -> [StoreMessage] {
        let requests = try connection.execute("SELECT id, sources FROM tributary_refresh ORDER BY id").map { row in
            (id: try row.int64(0) ?? 0, sources: try row.texts(1))
        }
        let known = known.withLock { known in
            defer { known = Set(requests.map(\.id)) }
            return known ?? []
        }
        return requests.filter { !known.contains($0.id) }.map { .refresh($0.sources) }
    }

    /// Any session may send messages, so each only says what to look at.
    ///
    /// - Returns: nil for messages of this process, for unknown ones, and for those about requests, which are in a
    ///   table.
    private func message(_ notification: PostgresNotification) -> StoreMessage? {
        let payload = Data(notification.payload.utf8)
        switch notification.channel {
        case Channel.commits:
            guard let commit = try? JSONDecoder().decode(CommitMessage.self, from: payload),
                commit.daemon != daemonID
            else { return nil }
            return .ran(commit.source)
        case let channel where channel.hasPrefix(Channel.refresh): return nil
        case let channel where channel.hasPrefix(Channel.hooks): return .retry(notification.payload)
        default:
            return notification.payload == daemonID ? nil : .daemonsChanged
        }
    }
}
