import AsyncAlgorithms
import FeedModel
import Foundation
import Hummingbird
import NIOCore
import ServiceLifecycle
import TributaryEngine

/// Keeps one open page up to date by server-sent events (HTML Standard, 9.2): the page is made again when something has
/// happened, and those parts are sent that differ.
struct LiveStream: Sendable {
    let pages: Pages
    let address: PageAddress
    let text: String
    let place: LiveLimit.Place

    /// The least time between two looks.
    private static let pause = Duration.milliseconds(500)
    /// The time after which it looks even if nothing has happened in this process. Others may have written to the store.
    private static let patience = Duration.seconds(5)

    private enum Tick { case change, time }

    /// Writes until the browser is gone or the daemon is to stop.
    @concurrent
    func write(to writer: inout any ResponseBodyWriter) async throws {
        var former: Page?
        let changes = pages.service.board.changes().map { Tick.change }
        let times = AsyncTimerSequence(interval: Self.patience, clock: .continuous).map { _ in Tick.time }
        try await writer.write(ByteBuffer(string: "retry: 3000\n\n"))
        former = try await send(to: &writer, since: former)
        for try await _ in merge(changes, times).cancelOnGracefulShutdown() {
            former = try await send(to: &writer, since: former)
            try await Task.sleep(for: Self.pause)
        }
    }

    @concurrent
    private func send(to writer: inout any ResponseBodyWriter, since former: Page?) async throws -> Page? {
        let made: Page?
        do {
            made = try await pages.followed.value(of: text) { try await pages.page(address) }
        } catch is StoreError {
            // A comment, so that a connection that is gone is noticed.
            try await writer.write(ByteBuffer(string: ": the store cannot be read\n\n"))
            return former
        }
        // Its source is no longer declared, or its run is forgotten. The browser asks again, and is told.
        guard let page = made else { throw CancellationError() }
        let changes = page.changes(since: former)
        guard !changes.isEmpty else {
            try await writer.write(ByteBuffer(string: ": \n\n"))
            return page
        }
        let message = Message(parts: changes.map { Message.Part(id: $0.id, html: $0.html) })
        try await writer.write(ByteBuffer(string: "data: \(try JSONOutput.line(message))\n\n"))
        return page
    }

    private struct Message: Encodable {
        struct Part: Encodable {
            var id: String
            var html: String
        }

        var parts: [Part]
    }
}
