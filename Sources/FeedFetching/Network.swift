package import AsyncHTTPClient
import NIOCore

/// Sends messages to servers. A simulator has its own, and with it all servers.
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

/// What waits for the machine's own network does so by the machine's clock, whatever clock decides what is due.
enum NetworkTime {
    /// - Throws: `CancellationError`.
    @Sendable static func sleep(for time: Duration) async throws { try await Task.sleep(for: time) }
}
