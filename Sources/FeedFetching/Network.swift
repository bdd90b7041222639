package import AsyncHTTPClient
package import FeedConfiguration
import FeedModel
import Foundation
import NIOCore

/// Sends messages to servers. The simulator implements it together with all servers.
package protocol Network: Sendable {
    /// Returns the head of the answer.
    ///
    /// - Parameters:
    ///   - origin: the origin of the message's address.
    ///   - timeout: the time for the whole exchange.
    /// - Throws: the client's errors; `CancellationError`.
    func send(
        _ message: HTTPClientRequest, to origin: Origin, within timeout: Duration
    ) async throws -> HTTPClientResponse
}

/// The connections of a client.
struct ClientConnections: Network {
    let client: HTTPClient
    let names: FoundNames
    let connectTimeout: Duration
    /// The host of the proxy, whose name is looked up in place of the server's; nil without one.
    var proxy: Transport.Proxy?

    func send(
        _ message: HTTPClientRequest, to origin: Origin, within timeout: Duration
    ) async throws -> HTTPClientResponse {
        let deadline = NIODeadline.now() + TimeAmount(timeout)
        let host = proxy?.host ?? origin.host
        try await names.find(host, port: proxy?.port ?? origin.port, within: connectTimeout)
        do {
            let response = try await client.execute(message, deadline: deadline)
            names.note(host)
            return response
        } catch {
            names.forget(host)
            throw error
        }
    }
}

/// The clock for waits at the machine's own network: always that of the machine.
enum NetworkTime {
    /// - Throws: `CancellationError`.
    @Sendable static func sleep(for time: Duration) async throws { try await Task.sleep(for: time) }
}

/// Looks up the name of a host before the client connects to it, and remembers for a minute that it has an address.
///
/// SwiftNIO looks up the names of an event loop one after another (`GetaddrinfoResolver`). One name server that does not answer
/// would therefore delay the connections to all other hosts. Here each lookup has a thread of its own, and the client
/// receives only names that have just been found.
final class FoundNames: Sendable {
    /// The error of a name without an address.
    struct UnknownName: Error {
        let host: String
        let port: Int
    }

    private static let lifetime = Duration.seconds(60)
    /// The most names that are remembered. A document may name any number.
    private static let most = 4_096

    private let names: any NameLookup
    private let found = Mutex<[String: ContinuousClock.Instant]>([:])

    init(_ names: any NameLookup = SystemNames()) { self.names = names }

    /// Returns when a host's name is known to have an address.
    ///
    /// - Parameter limit: the most time for a lookup.
    /// - Throws: ``UnknownName``; `HTTPClientError.connectTimeout` after the limit; `CancellationError`.
    func find(_ host: String, port: Int, within limit: Duration) async throws {
        guard IPAddress(literal: host) == nil, !isKnown(host) else { return }
        let addresses = try await withThrowingTaskGroup(of: [IPAddress]?.self) { group in
            defer { group.cancelAll() }
            group.addTask { [names] in try await names.addresses(of: host) }
            group.addTask {
                try await NetworkTime.sleep(for: limit)
                return nil
            }
            return try await group.next() ?? nil
        }
        guard let addresses else { throw HTTPClientError.connectTimeout }
        if addresses.isEmpty { throw UnknownName(host: host, port: port) }
        note(host)
    }

    /// Notes that a host has answered.
    func note(_ host: String) {
        let now = ContinuousClock.now
        found.withLock { found in
            found[host] = now
            guard found.count > Self.most else { return }
            found = found.filter { now - $0.value < Self.lifetime }
            if found.count > Self.most { found = [host: now] }
        }
    }

    /// Forgets a host, as no request to it has succeeded.
    func forget(_ host: String) { found.withLock { $0[host] = nil } }

    private func isKnown(_ host: String) -> Bool {
        found.withLock { $0[host].map { ContinuousClock.now - $0 < Self.lifetime } ?? false }
    }
}
