import AsyncAlgorithms
import FeedModel
import FeedStores
import Foundation
import Hummingbird
import NIOCore
import ServiceLifecycle
import TributaryEngine

/// Tells a program of each run that is recorded, by server-sent events (HTML Standard, 9.2). An event's id is the run's
/// place: whoever gives it back misses none, also none of another process's.
struct EventStream: Sendable {
    let activeRuns: ActiveRuns
    let store: StoreQueue
    /// Empty for all.
    let sources: Set<String>
    let start: RunPosition
    let place: LiveLimit.Place
    /// Returns false once the client's token is no longer valid.
    let isAllowed: @Sendable () -> Bool

    /// The least time between two reads of the store, as for an open page.
    private static let pause = LiveStream.pause
    /// The most runs of one piece. The next is read when this one has been written.
    private static let mostRuns = 200
    /// The time after which it looks even if nothing has happened in this process, and says that it is alive.
    private static let interval = Duration.seconds(5)

    private enum Tick { case change, time }

    /// Writes until the reader is gone, its token is no longer valid, or the daemon is to stop.
    @concurrent
    func write(to writer: inout any ResponseBodyWriter) async throws {
        let changes = activeRuns.changes().map { Tick.change }
        let times = AsyncTimerSequence(interval: Self.interval, clock: .continuous).map { _ in Tick.time }
        var position = start
        try await writer.write(ByteBuffer(string: "retry: 3000\n\n"))
        try await send(after: &position, to: &writer)
        for try await _ in merge(changes, times).cancelOnGracefulShutdown() {
            guard isAllowed() else { return }
            try await send(after: &position, to: &writer)
            try await Task.sleep(for: Self.pause)
        }
    }

    /// Writes all runs behind a place; a comment where there are none, so that a connection that is gone is noticed.
    @concurrent
    private func send(after position: inout RunPosition, to writer: inout any ResponseBodyWriter) async throws {
        while true {
            let page: (runs: [ChangelogRun], hasForgotten: Bool)
            do {
                page = try await store.read { [position] in
                    try $0.read { try $0.changelog.page(after: position, limit: Self.mostRuns) }
                }
            } catch is StoreError {
                return try await writer.write(ByteBuffer(string: ": the store cannot be read\n\n"))
            }
            var text = page.hasForgotten ? "event: forgotten\ndata: {\"after\":\"\(position.text)\"}\n\n" : ""
            for run in page.runs {
                position = run.position
                guard sources.isEmpty || sources.contains(run.report.source) else { continue }
                text += "event: run\nid: \(position.text)\ndata: \(try JSONOutput.line(RunRecord(run.report)))\n\n"
            }
            try await writer.write(ByteBuffer(string: text.isEmpty ? ": \n\n" : text))
            if page.runs.count < Self.mostRuns { return }
        }
    }
}
