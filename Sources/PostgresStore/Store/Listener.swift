import FeedStores
import Foundation
import PostgresClient
import Locking

/// Receives a store's messages on a thread and a connection of its own.
final class Listener: StoreListening {
    private struct State {
        var isStopped = false
        var cancellation: PostgresCancellation?
    }

    private struct CommitMessage: Decodable {
        var source: String
        var daemon: String?
    }

    /// The seconds between two attempts to connect.
    private static let pause = 2.0

    private let connectionString: String
    private let daemonID: String
    private let receive: @Sendable ([StoreMessage]) -> Void
    private let state = Mutex(State())
    private let stopped = DispatchSemaphore(value: 0)

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
            while !state.withLock(\.isStopped) {
                do {
                    try follow { isLost = false }
                } catch {
                    if !isLost, !state.withLock(\.isStopped) { receive([.lost("\(error)")]) }
                    isLost = true
                    _ = stopped.wait(timeout: .now() + Self.pause)
                }
            }
        }
    }

    func stop() {
        state.withLock { state in
            state.isStopped = true
            state.cancellation?.abandon()
        }
        stopped.signal()
    }

    /// - Throws: `PostgresError` once the connection is lost or the listener is stopped.
    private func follow(_ onConnection: () -> Void) throws {
        let connection = try PostgresConnection(connectionString)
        defer {
            state.withLock { $0.cancellation = nil }
            connection.close()
        }
        let isStopped = state.withLock { state in
            state.cancellation = connection.cancellation
            return state.isStopped
        }
        if isStopped { return }
        try connection.listenAsDaemon()
        onConnection()
        receive([.daemonsChanged])
        while true {
            let messages = try connection.notifications().compactMap(message)
            if !messages.isEmpty { receive(messages) }
        }
    }

    /// - Returns: nil for messages of this process, and for unknown ones, because any session may send them.
    private func message(_ notification: PostgresNotification) -> StoreMessage? {
        let payload = Data(notification.payload.utf8)
        switch notification.channel {
        case Channel.commits:
            guard let commit = try? JSONDecoder().decode(CommitMessage.self, from: payload),
                commit.daemon != daemonID
            else { return nil }
            return .ran(commit.source)
        case let channel where channel.hasPrefix(Channel.refresh):
            return (try? JSONDecoder().decode([String].self, from: payload)).map { .refresh($0) }
        case let channel where channel.hasPrefix(Channel.hooks): return .retry(notification.payload)
        default:
            return notification.payload == daemonID ? nil : .daemonsChanged
        }
    }
}
