import AsyncHTTPClient
import FeedFetching
import FeedModel
import Foundation
import NIOCore
import NIOHTTP1
import TestSupport

/// All servers, and the ways to them.
final class Internet: @unchecked Sendable {
    /// What a host allows, as `[hosts]` declares it.
    struct Host {
        var perHost: Int
        var pace: Duration?
    }

    private struct Traffic {
        /// Requests under way, by process.
        var requests: [EventLoop.Process: Int] = [:]
        /// When the last request of each process began.
        var last: [EventLoop.Process: Duration] = [:]
    }

    let loop: EventLoop
    let faults: Faults
    let hosts: [String: Host]
    let feeds: [String: Feed]
    let receiver: Receiver
    private var traffic: [String: Traffic] = [:]
    /// The processes that ask for each source at this moment, with the number of their requests.
    private var runners: [String: [EventLoop.Process: Int]] = [:]
    private let fail: (String) -> Void
    private(set) var requests = 0
    /// True where a process has written to the store since this was last set.
    var hasWritten = false

    /// - Parameter fail: called with what no host allows.
    init(
        _ loop: EventLoop, _ faults: Faults, hosts: [String: Host], feeds: [Feed], receiver: Receiver,
        fail: @escaping (String) -> Void
    ) {
        self.loop = loop
        self.faults = faults
        self.hosts = hosts
        self.feeds = Dictionary(uniqueKeysWithValues: feeds.map { ($0.host + $0.path, $0) })
        self.receiver = receiver
        self.fail = fail
    }

    /// Forgets what a process that was killed had under way.
    func forget(_ process: EventLoop.Process) {
        for host in hosts.keys {
            traffic[host]?.requests[process] = nil
            traffic[host]?.last[process] = nil
        }
        for source in runners.keys { runners[source]?[process] = nil }
    }

    fileprivate func begin(at host: String, of source: String, _ process: EventLoop.Process) {
        if let other = runners[source]?.keys.first(where: { $0 != process }) {
            fail("p\(process) runs source \(source) while p\(other) does")
        }
        runners[source, default: [:]][process, default: 0] += 1
        requests += 1
        guard let rules = hosts[host] else { return }
        let count = traffic[host, default: Traffic()].requests[process, default: 0] + 1
        traffic[host]?.requests[process] = count
        if count > rules.perHost { fail("\(host) gets \(count) requests at once, and allows \(rules.perHost)") }
        if let pace = rules.pace, let last = traffic[host]?.last[process], loop.now - last < pace {
            fail("\(host) is asked \(loop.now - last) after the last time, and allows once in \(pace)")
        }
        traffic[host]?.last[process] = loop.now
    }

    fileprivate func end(at host: String, of source: String, _ process: EventLoop.Process) {
        if let count = runners[source]?[process] { runners[source]?[process] = count > 1 ? count - 1 : nil }
        guard let count = traffic[host]?.requests[process] else { return }
        traffic[host]?.requests[process] = count > 1 ? count - 1 : nil
    }
}

/// The network as one process sees it.
final class SimulatedNetwork: Network, @unchecked Sendable {
    /// A request under way, as its host counts it.
    private final class Visit {
        let internet: Internet
        let host: String
        let source: String
        let process: EventLoop.Process
        var isOver = false

        init(_ internet: Internet, _ host: String, _ source: String, _ process: EventLoop.Process) {
            self.internet = internet
            self.host = host
            self.source = source
            self.process = process
            internet.begin(at: host, of: source, process)
        }

        func end() {
            guard !isOver else { return }
            isOver = true
            internet.end(at: host, of: source, process)
        }
    }

    private let internet: Internet
    private let process: EventLoop.Process

    init(_ internet: Internet, _ process: EventLoop.Process) {
        self.internet = internet
        self.process = process
    }

    private var loop: EventLoop { internet.loop }
    private var faults: Faults { internet.faults }

    func send(_ message: HTTPClientRequest, within timeout: Duration) async throws -> HTTPClientResponse {
        guard let url = URL(string: message.url), let host = url.host else { throw HTTPClientError.invalidURL }
        let end = loop.now + timeout
        if message.method == .POST {
            return HTTPClientResponse(status: .init(statusCode: try await post(message, until: end)))
        }
        guard let feed = internet.feeds[host + url.path] else { throw HTTPClientError.invalidURL }
        let visit = Visit(internet, host, feed.source, process)
        let (tag, modified) = (
            message.headers.first(name: "If-None-Match"), message.headers.first(name: "If-Modified-Since")
        )
        do {
            let answer = try await answer(of: feed, tag: tag, modified: modified, until: end)
            loop.note("\(host)\(url.path) \(tag ?? modified ?? "-"): \(answer.status) \(answer.note)")
            guard let body = answer.body else {
                visit.end()
                return HTTPClientResponse(status: .init(statusCode: answer.status), headers: answer.headers)
            }
            let reading = Reading(body, answer.isCut, visit, self, until: end)
            return HTTPClientResponse(
                status: .init(statusCode: answer.status), headers: answer.headers, body: .stream(Body(reading: reading))
            )
        } catch {
            loop.note("\(host)\(url.path) \(tag ?? modified ?? "-"): \(error)")
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
    private func transit(until end: Duration) async throws {
        let time: Duration =
            faults.fires(.hang)
            ? .seconds(86_400) : .milliseconds(faults.fires(.latency) ? faults.number(in: 100...15_000) : 5)
        try await wait(for: time, until: end)
    }

    // MARK: - Feeds

    private struct Answer {
        var status: Int
        var headers = HTTPHeaders()
        var body: [UInt8]?
        var isCut = false
        var note = ""
    }

    private func answer(of feed: Feed, tag: String?, modified: String?, until end: Duration) async throws -> Answer {
        try await transit(until: end)
        if faults.fires(.refused) { throw HTTPClientError.connectTimeout }
        var answer = Answer(status: 200)
        let now = SimulatedClock.epoch + loop.now.seconds
        answer.headers.add(name: "Date", value: Feed.written(now))
        if faults.fires(.failure) {
            answer.status = faults.number(in: 0...1) == 0 ? 500 : 503
        } else if faults.fires(.busy) {
            answer.status = 429
            if faults.number(in: 0...1) == 0 {
                answer.headers.add(name: "Retry-After", value: "\(faults.number(in: 1...1800))")
            }
        } else {
            let version = feed.current
            let isAsked = tag != nil || modified != nil
            let isUnchanged = feed.isCurrent(tag: tag, modified: modified)
            if isAsked, isUnchanged ? !faults.fires(.ignoredCondition) : faults.fires(.lyingUnchanged) {
                answer.status = 304
                answer.note = isUnchanged ? "" : "lies"
            } else {
                feed.tag(version).map { answer.headers.add(name: "ETag", value: $0) }
                feed.lastModified(version).map { answer.headers.add(name: "Last-Modified", value: $0) }
                var document = feed.versions[version].document
                answer.note = "version \(version)"
                if faults.fires(.malformed) {
                    document = document.replacingOccurrences(of: "</items>", with: "<item></items>")
                    answer.note += " malformed"
                }
                let bytes = Array(document.utf8)
                answer.body = bytes
                if faults.number(in: 0...1) == 0 { answer.headers.add(name: "Content-Length", value: "\(bytes.count)") }
                if faults.fires(.cut) {
                    answer.body = Array(bytes.prefix(faults.number(in: 0...max(0, bytes.count - 1))))
                    answer.isCut = true
                    answer.note += " cut"
                }
            }
        }
        try await transit(until: end)
        return answer
    }

    /// A body that comes in pieces.
    private final class Reading: @unchecked Sendable {
        private var rest: ArraySlice<UInt8>
        private let isCut: Bool
        private let visit: Visit
        private let network: SimulatedNetwork
        private let end: Duration

        init(_ bytes: [UInt8], _ isCut: Bool, _ visit: Visit, _ network: SimulatedNetwork, until end: Duration) {
            rest = bytes[...]
            self.isCut = isCut
            self.visit = visit
            self.network = network
            self.end = end
        }

        deinit { visit.end() }

        func next() async throws -> ByteBuffer? {
            do {
                try await network.transit(until: end)
                guard !rest.isEmpty else {
                    visit.end()
                    if isCut { throw HTTPClientError.remoteConnectionClosed }
                    return nil
                }
                let piece = rest.prefix(network.faults.number(in: 1...max(1, rest.count)))
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
        try await transit(until: end)
        let (fails, isLost) = (faults.fires(.receiver), faults.fires(.receiver))
        loop.note("hook \(event.id)\(fails ? " refused" : isLost ? " answer lost" : "")")
        internet.receiver.receive(event)
        if fails { return 500 }
        if isLost { throw HTTPClientError.remoteConnectionClosed }
        try await transit(until: end)
        internet.receiver.take(event)
        return 200
    }
}
