import AsyncHTTPClient
import FeedModel
package import FeedConfiguration
package import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Posts events to addresses, by Standard Webhooks (github.com/standard-webhooks). Redirects are not followed, because
/// they would send signed events to another receiver.
package final class WebhookClient: Sendable {
    package struct Answer: Sendable {
        package var status: Int
        /// The end of the wait that the receiver requests (Retry-After).
        package var retryAt: Date?
    }

    /// The most bytes of an answer that are read and discarded, so that its connection can be reused.
    private static let mostRead = 64 << 10

    private static let connectTimeout = Duration.seconds(10)

    private let client: HTTPClient?
    private let network: any Network
    private let sleep: @Sendable (Duration) async throws -> Void

    /// - Parameters:
    ///   - network: sends the messages.
    ///   - sleep: waits for a time; throws `CancellationError`.
    package init(network: any Network, sleep: @escaping @Sendable (Duration) async throws -> Void) {
        client = nil
        self.network = network
        self.sleep = sleep
    }

    package init() {
        var configuration = HTTPClient.Configuration.plain(connectTimeout: Self.connectTimeout)
        // Receivers close idle connections. A POST on such a connection may or may not have arrived.
        configuration.connectionPool.idleTimeout = .seconds(5)
        let client = HTTPClient(
            eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup.singleton), configuration: configuration)
        self.client = client
        network = ClientConnections(client: client, names: FoundNames(), connectTimeout: Self.connectTimeout)
        sleep = NetworkTime.sleep
    }

    /// Closes the connections. Call it once, when no request is in progress.
    package func shutdown() async throws { try await client?.shutdown() }

    /// Posts an event.
    ///
    /// - Throws: ``FetchError`` if no answer arrives; `CancellationError`.
    package func post(
        _ body: Data, id: String, to address: InterpolatedText, secret: HookSecret?, timeout: Duration, now: Date
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: address.value)
        request.method = .POST
        let timestamp = String(Int(now.timeIntervalSince1970.rounded(.down)))
        request.headers.add(name: "Content-Type", value: "application/json")
        request.headers.add(name: "User-Agent", value: PreparedRequest.userAgent)
        request.headers.add(name: "webhook-id", value: id)
        request.headers.add(name: "webhook-timestamp", value: timestamp)
        if let secret {
            let signature = Self.signature(of: body, id: id, timestamp: timestamp, secret)
            request.headers.add(name: "webhook-signature", value: signature)
        }
        request.body = .bytes(ByteBuffer(bytes: body))
        do {
            guard let url = URL(string: address.value) else { throw HTTPClientError.invalidURL }
            let response = try await network.send(request, to: url.origin, within: timeout)
            await drain(response)
            let retryAt = response.headers.first(name: "Retry-After").flatMap { RetryAfter.end(of: $0, at: now) }
            return Answer(status: Int(response.status.code), retryAt: retryAt)
        } catch {
            // Checked first, because the client throws its own error for a cancelled task.
            try Task.checkCancellation()
            throw FetchError(
                client: error, subject: "POST \(address)", connectTimeout: Self.connectTimeout, timeout: timeout)
        }
    }

    /// Reads the answer's body for a second at most. Only the status counts.
    private func drain(_ response: HTTPClientResponse) async {
        let sleep = self.sleep
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                var read = 0
                do {
                    for try await part in response.body {
                        read += part.readableBytes
                        if read > Self.mostRead { return }
                    }
                } catch {
                    // The connection is then closed.
                }
            }
            group.addTask { try? await sleep(.seconds(1)) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Returns the header `webhook-signature`: HMAC-SHA256 of the id, the time and the body.
    package static func signature(of body: Data, id: String, timestamp: String, _ secret: HookSecret) -> String {
        let message = Data("\(id).\(timestamp).".utf8) + body
        return "v1," + Data(HMAC.code(of: message, key: secret.key)).base64EncodedString()
    }
}
