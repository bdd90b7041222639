import AsyncHTTPClient
import FeedConfiguration
import FeedFetching
import Foundation
import NIOCore
import NIOHTTP1

/// The network as one process sees it.
final class SimulatedNetwork: Network, @unchecked Sendable {
    let internet: Internet
    private let process: EventLoop.Process

    init(_ internet: Internet, _ process: EventLoop.Process) {
        self.internet = internet
        self.process = process
    }

    var loop: EventLoop { internet.loop }
    var faults: Faults { internet.faults }

    func send(
        _ message: HTTPClientRequest, to origin: Origin, within timeout: Duration
    ) async throws -> HTTPClientResponse {
        guard let url = URL(string: message.url), let host = url.host else { throw HTTPClientError.invalidURL }
        let end = loop.now + timeout
        if message.method == .POST {
            return HTTPClientResponse(status: .init(statusCode: try await post(message, until: end)))
        }
        guard let feed = internet.feed(at: url) else { throw HTTPClientError.invalidURL }
        if SimulatedNames.isPrivate(host) || host != feed.host && internet.isKnownAsPrivate(host, to: process) {
            internet.fail(Finding(.privacy, "p\(process) asks \(url.absoluteString)"))
        }
        let visit = Visit(internet, host, feed.source, process)
        let conditions =
            message.headers.first(name: "If-None-Match") ?? message.headers.first(name: "If-Modified-Since")
        do {
            let answer = try await answer(of: feed, at: url, message.headers, until: end)
            loop.note("\(url.absoluteString) \(conditions ?? "-"): \(answer.status) \(answer.note)")
            guard let body = answer.body else {
                visit.end()
                return HTTPClientResponse(status: .init(statusCode: answer.status), headers: answer.headers)
            }
            let reading = Reading(body, answer.isCut, visit, self, feed.path, until: end)
            return HTTPClientResponse(
                status: .init(statusCode: answer.status), headers: answer.headers, body: .stream(Body(reading: reading))
            )
        } catch {
            loop.note("\(url.absoluteString) \(conditions ?? "-"): \(error)")
            visit.end()
            throw error
        }
    }

    /// Waits as long as it takes, or until a time is up.
    private func wait(for time: Duration, until end: Duration) async throws {
        guard loop.now + time < end else {
            try await loop.sleep(for: end - loop.now)
            throw HTTPClientError.deadlineExceeded
        }
        try await loop.sleep(for: time)
    }

    /// The way to a server or back: some milliseconds, seconds, or for ever.
    func transit(_ place: String, until end: Duration) async throws {
        let time: Duration =
            faults.fires(.hang, place)
            ? .seconds(86_400)
            : .milliseconds(faults.fires(.latency, place) ? faults.number(in: 100...15_000, "ms:" + place) : 5)
        try await wait(for: time, until: end)
    }

    // MARK: - Bodies

    /// A body that comes in pieces.
    private final class Reading: @unchecked Sendable {
        private var rest: ArraySlice<UInt8>
        private let isCut: Bool
        private let visit: Visit
        private let network: SimulatedNetwork
        private let place: String
        private let end: Duration

        init(
            _ bytes: [UInt8], _ isCut: Bool, _ visit: Visit, _ network: SimulatedNetwork, _ place: String,
            until end: Duration
        ) {
            rest = bytes[...]
            self.isCut = isCut
            self.visit = visit
            self.network = network
            self.place = place
            self.end = end
        }

        deinit { visit.end() }

        func next() async throws -> ByteBuffer? {
            do {
                try await network.transit(place, until: end)
                guard !rest.isEmpty else {
                    visit.end()
                    if isCut { throw HTTPClientError.remoteConnectionClosed }
                    return nil
                }
                let piece = rest.prefix(network.faults.number(in: 1...max(1, rest.count), "piece:" + place))
                rest = rest.dropFirst(piece.count)
                return ByteBuffer(bytes: piece)
            } catch {
                visit.end()
                throw error
            }
        }
    }

    private struct Body: AsyncSequence, Sendable {
        typealias Element = ByteBuffer
        typealias Failure = any Error

        let reading: Reading

        func makeAsyncIterator() -> Iterator { Iterator(reading: reading) }

        struct Iterator: AsyncIteratorProtocol {
            let reading: Reading

            mutating func next() async throws -> ByteBuffer? { try await reading.next() }
        }
    }

    // MARK: - Hooks

    private func post(_ message: HTTPClientRequest, until end: Duration) async throws -> Int {
        let event = try await Receiver.Event(message)
        try await transit("hook", until: end)
        let (fails, isLost) = (faults.fires(.receiver, "refused"), faults.fires(.receiver, "lost"))
        loop.note(
            "hook \(event.type) of \(event.source ?? "-"), run \(event.run ?? 0), \(event.id)\(fails ? " refused" : isLost ? " answer lost" : "")"
        )
        internet.receiver.receive(event, isLate: internet.delayed.contains(process))
        if fails { return 500 }
        if isLost { throw HTTPClientError.remoteConnectionClosed }
        try await transit("hook", until: end)
        internet.receiver.take(event)
        return 200
    }
}
