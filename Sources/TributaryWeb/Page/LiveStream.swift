import AsyncAlgorithms
import FeedModel
import Hummingbird
import ServiceLifecycle
import TributaryEngine

/// Keeps one open page up to date by server-sent events (HTML Standard, 9.2): the page is made again when something has
/// happened, and those parts are sent that differ.
struct LiveStream: Sendable {
    let pages: Pages
    let address: PageAddress
    let text: String
    /// The page as it is when the browser begins to follow it.
    let first: Page
    let place: LiveLimit.Place

    /// The least time between two reads of the store.
    static let pause = Duration.milliseconds(500)
    /// The time after which the store is read even if nothing has happened in this process. Others may have written to
    /// it.
    private static let interval = Duration.seconds(5)

    private enum Tick { case change, time }

    /// Writes until the browser is gone, its token is no longer valid, or the daemon is to stop.
    @concurrent
    func write(to writer: inout any ResponseBodyWriter) async throws {
        let changes = pages.service.activeRuns.changes().map { Tick.change }
        let times = AsyncTimerSequence(interval: Self.interval, clock: .continuous).map { _ in Tick.time }
        try await writer.write(ByteBuffer(string: "retry: 3000\n\n"))
        var former = first
        try await send(first, to: &writer, since: nil)
        for try await _ in merge(changes, times).cancelOnGracefulShutdown() {
            guard pages.isAllowed() else { return }
            let now = ContinuousClock.now
            do {
                let made = try await pages.followed.value(of: pages.key(of: text), since: now) {
                    try await pages.page(address, since: now)
                }
                // The source is no longer declared, or the run was deleted. The browser requests the page again.
                guard let page = made else { throw CancellationError() }
                try await send(page, to: &writer, since: former)
                former = page
            } catch is StoreError {
                // A comment, so that a connection that is gone is noticed.
                try await writer.write(ByteBuffer(string: ": the store cannot be read\n\n"))
            }
            try await Task.sleep(for: Self.pause)
        }
    }

    @concurrent
    private func send(_ page: Page, to writer: inout any ResponseBodyWriter, since former: Page?) async throws {
        let changes = page.changes(since: former)
        let isSame = changes.isEmpty && page.status == former?.status && page.windowTitle == former?.windowTitle
        guard !isSame else { return try await writer.write(ByteBuffer(string: ": \n\n")) }
        // The window's title and icon, and what a screen reader says when it changes.
        let message: JSONObject = [
            "parts": changes.map { ["id": $0.id, "html": $0.html] }, "title": page.windowTitle, "icon": page.icon,
            "status": page.status,
        ]
        try await writer.write(ByteBuffer(string: "data: \(try JSONOutput.line(message))\n\n"))
    }
}

/// Limits the pages that are kept up to date at the same time.
final class LiveLimit: Sendable {
    private static let most = 64

    private let count = Mutex(0)

    /// A place, which is free again when nothing refers to it any more.
    final class Place: Sendable {
        private let limit: LiveLimit

        fileprivate init(_ limit: LiveLimit) { self.limit = limit }

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
