import AsyncHTTPClient
import FeedConfiguration
import FeedModel
import Foundation

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
