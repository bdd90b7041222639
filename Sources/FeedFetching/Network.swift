package import AsyncHTTPClient
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

    func send(_ message: HTTPClientRequest, within timeout: Duration) async throws -> HTTPClientResponse {
        try await client.execute(message, deadline: NIODeadline.now() + TimeAmount(timeout))
    }
}

/// The clock for waits at the machine's own network: always that of the machine.
enum NetworkTime {
    /// - Throws: `CancellationError`.
    @Sendable static func sleep(for time: Duration) async throws { try await Task.sleep(for: time) }
}
