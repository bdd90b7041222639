import AsyncAlgorithms
import FeedModel
import Hummingbird
import NIOCore
import ServiceLifecycle
import TributaryEngine

/// What is in the store, as server-sent events (HTML Standard, 9.2).
protocol EventSource: Sendable {
    /// Returns the next events, which may be none.
    ///
    /// - Returns: true with the last events for the present.
    /// - Throws: `StoreError` where the store cannot be read now; other errors end the stream.
    mutating func next() async throws -> (text: String, isLast: Bool)
}

/// Sends a client the events of a source when something has happened.
struct EventStream<Source: EventSource>: Sendable {
    let source: Source
    let activeRuns: ActiveRuns
    let place: FollowerLimit.Place
    /// Returns false once the client's token is no longer valid.
    let isAllowed: @Sendable () -> Bool

    /// The least time between two reads of the store.
    private static var pause: Duration { .milliseconds(500) }
    /// The time after which the store is read even if nothing has happened in this process. Others may have written to
    /// it.
    private static var interval: Duration { .seconds(5) }

    var response: Response {
        Response(
            status: .ok, headers: [.contentType: "text/event-stream"],
            body: ResponseBody { writer in
                try await write(to: &writer)
                try await writer.finish(nil)
            })
    }

    /// Writes until the client is gone, its token is no longer valid, or the daemon is to stop.
    @concurrent
    private func write(to writer: inout any ResponseBodyWriter) async throws {
        let changes = activeRuns.changes()
        let times = AsyncTimerSequence(interval: Self.interval, clock: .continuous).map { _ in }
        var source = source
        try await writer.write(ByteBuffer(string: "retry: 3000\n\n"))
        try await Self.send(&source, to: &writer)
        for try await _ in merge(changes, times).cancelOnGracefulShutdown() {
            guard isAllowed() else { return }
            try await Self.send(&source, to: &writer)
            try await Task.sleep(for: Self.pause)
        }
    }

    /// Writes all events; a comment where there are none, so that a connection that is gone is noticed.
    @concurrent
    private static func send(_ source: inout Source, to writer: inout any ResponseBodyWriter) async throws {
        var isLast = false
        while !isLast {
            var text: String
            do {
                (text, isLast) = try await source.next()
            } catch is StoreError {
                (text, isLast) = (": the store cannot be read\n\n", true)
            }
            try await writer.write(ByteBuffer(string: text.isEmpty ? ": \n\n" : text))
        }
    }
}

/// Limits the clients that follow events or a page at the same time.
final class FollowerLimit: Sendable {
    private static let most = 64

    private let count = Mutex(0)

    /// A place, which is free again when nothing refers to it any more.
    final class Place: Sendable {
        private let limit: FollowerLimit

        fileprivate init(_ limit: FollowerLimit) { self.limit = limit }

        deinit { limit.count.withLock { $0 -= 1 } }
    }

    /// - Returns: nil where there is no place.
    func place() -> Place? {
        let isFree = count.withLock { count in
            guard count < Self.most else { return false }
            count += 1
            return true
        }
        return isFree ? Place(self) : nil
    }
}
