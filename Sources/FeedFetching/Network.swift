package import AsyncHTTPClient
import FeedConfiguration
import Foundation
import NIOCore

/// Sends messages to servers. The simulator implements it together with all servers.
package protocol Network: Sendable {
    /// Returns the head of the answer.
    ///
    /// - Parameter timeout: the time for the whole exchange.
    /// - Throws: the client's errors; `CancellationError`.
    func send(_ message: HTTPClientRequest, within timeout: Duration) async throws -> HTTPClientResponse
}

/// The connections of a client.
struct ClientConnections: Network {
    let client: HTTPClient
    let names: FoundNames
    let connectTimeout: Duration
    /// The host of the proxy, whose name is looked up in place of the server's; nil without one.
    var proxy: Transport.Proxy?

    func send(_ message: HTTPClientRequest, within timeout: Duration) async throws -> HTTPClientResponse {
        let deadline = NIODeadline.now() + TimeAmount(timeout)
        guard let url = URL(string: message.url), let host = proxy?.host ?? url.host else {
            throw HTTPClientError.invalidURL
        }
        let port = proxy?.port ?? url.port ?? (url.scheme == "https" ? 443 : 80)
        try await names.find(host, port: port, within: connectTimeout)
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
