import FeedModel
import FeedStores
import Foundation

/// Notifies listeners (`LISTEN tributary`) of commits that have changed rows, after the commit.
///
/// NOTIFY takes a lock of the whole database until its transaction is on disk, so no commit contains it. The messages
/// of all commits within ``pause`` are sent in one transaction. They are hints: they are lost if the process is
/// killed or the store is unreachable.
final class CommitNotifier: Sendable {
    private struct State {
        var messages: [String] = []
        var isSending = false
    }

    private struct Message: Encodable {
        var run: Int64
        var source: String
        var outcome: String
        var daemon: String
    }

    /// The time between two transactions.
    static let pause = 0.05
    /// The most messages of one transaction: PostgreSQL holds them back until all listeners have read them.
    private static let mostMessages = 1_000
    /// The time for which the end of a store waits for its last messages.
    private static let timeToFlush = 3.0

    private let state = Mutex(State())
    private let sending = DispatchGroup()
    private let flushing = DispatchSemaphore(value: 0)

    /// Sends a notification of a commit, unless it has changed no row. Does not wait.
    func notify(_ report: RunReport, run: RecordedRun, in store: PostgresStore) {
        guard report.counts.changed > 0 else { return }
        let message = Message(
            run: run.id, source: report.source, outcome: report.outcome.rawValue, daemon: store.leases.holder)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let text = try? encoder.encode(message) else { return }
        let isFirst = state.withLock { state in
            state.messages.append(String(decoding: text, as: UTF8.self))
            defer { state.isSending = true }
            if !state.isSending { sending.enter() }
            return !state.isSending
        }
        if isFirst { Thread.detachNewThread { self.sendAll(from: store) } }
    }

    /// Waits until all messages are sent, but at most three seconds.
    func flush() {
        flushing.signal()
        _ = sending.wait(timeout: .now() + Self.timeToFlush)
    }

    private func sendAll(from store: PostgresStore) {
        while true {
            let messages = state.withLock { state in
                let first = Array(state.messages.prefix(Self.mostMessages))
                state.messages.removeFirst(first.count)
                state.isSending = !first.isEmpty
                return first
            }
            if messages.isEmpty { return sending.leave() }
            // Where the server is away, so are those who listen: they read everything once they are back.
            try? store.ask { connection in
                _ = try connection.execute(
                    "SELECT pg_notify('\(Channel.commits)', m) FROM unnest($1::text[]) m",
                    [.textArray(try PostgresTextArray(messages))])
            }
            _ = flushing.wait(timeout: .now() + Self.pause)
        }
    }
}
