package import AsyncHTTPClient
package import FeedConfiguration
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
