import Foundation
import Synchronization
import TestSupport

/// An origin with many hosts, which notes each request with its beginning and end.
final class DaemonOrigin: Sendable {
    struct Request: Sendable {
        var source: String
        var host: Int
        var began: ContinuousClock.Instant
        var ended: ContinuousClock.Instant
    }

    let sources: [String]
    private let servers: [StubServer]
    private let log = Mutex<[Request]>([])

    /// - Parameter answerTime: the seconds that each answer takes.
    init(hosts: Int, sourcesOfEach: Int, answerTime: Double) throws {
        servers = try (0..<hosts).map { _ in try StubServer() }
        sources = (0..<hosts).flatMap { host in (0..<sourcesOfEach).map { "s\(host)x\($0)" } }
        for (host, server) in servers.enumerated() {
            for number in 0..<sourcesOfEach {
                let source = "s\(host)x\(number)"
                server.route("/" + source) { [self] _ in
                    let began = ContinuousClock.now
                    Thread.sleep(forTimeInterval: answerTime * Double.random(in: 0.5...1.5))
                    let count = log.withLock { log in
                        log.append(Request(source: source, host: host, began: began, ended: .now))
                        return log.count
                    }
                    return StubServer.response(200, "<items><item id='1' n='\(count)'/></items>")
                }
            }
        }
    }

    func stop() { for server in servers { server.stop() } }

    var requests: [Request] { log.withLock(\.self).sorted { $0.began < $1.began } }

    /// The sources' declarations.
    func declarations(cache: String) -> String {
        sources.map { source in
            let host = Int(source.dropFirst().prefix { $0 != "x" }) ?? 0
            return """
                [sources.\(source)]
                cache = "\(cache)"
                [[sources.\(source).requests]]
                url = "\(servers[host].url)/\(source)"
                scope = { source = "\(source)" }
                tables = [{ table = "item", element = "item", key = ["source", "id"], sync = "mirror", \
                columns = { source = { value = "\(source)" }, id = "@id", n = "@n" } }]

                """
        }.joined()
    }

    /// The most requests at one host at the same time.
    var mostAtOneHost: Int {
        Dictionary(grouping: requests, by: \.host).values.map { requests in
            let changes = requests.map { ($0.began, 1) } + requests.map { ($0.ended, -1) }
            var (now, most) = (0, 0)
            for (_, change) in changes.sorted(by: { $0.0 == $1.0 ? $0.1 < $1.1 : $0.0 < $1.0 }) {
                now += change
                most = max(most, now)
            }
            return most
        }.max() ?? 0
    }

    /// Returns the requests that came sooner after the same source's last one than they may.
    func early(_ interval: Duration) -> [(first: Request, second: Request)] {
        Dictionary(grouping: requests, by: \.source).values.flatMap { requests in
            zip(requests, requests.dropFirst()).filter { $1.began - $0.began < interval }.map { ($0, $1) }
        }
    }

    /// Returns the sources that were not asked between two moments.
    func missing(from start: ContinuousClock.Instant, to end: ContinuousClock.Instant) -> Set<String> {
        Set(sources).subtracting(requests.filter { start <= $0.began && $0.began < end }.map(\.source))
    }
}
