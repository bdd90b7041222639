import AsyncHTTPClient
package import FeedConfiguration
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// The reason why a request gave no usable response.
package struct FetchError: Error, Sendable, CustomStringConvertible {
    package enum Code: Sendable {
        case address, connection, timeout, status, overloaded, truncated, tooLarge, decoding, redirect, file
    }

    var code: Code
    var message: String
    /// What to declare for such a response; nil where the message says it, or nothing helps.
    package var advice: String?
    /// The wait that a server requests; nil for another error.
    package var wait: RequestedWait?

    /// True if the same request may succeed when it is sent again.
    package var isWorthRepeating: Bool { code == .connection || code == .truncated || code == .overloaded }

    /// True if a body is larger than its limit.
    package var isTooLarge: Bool { code == .tooLarge }

    package var description: String { message + (advice.map { "; \($0)" } ?? "") }

    /// Returns the error with a place before its message.
    package func on(_ place: String) -> FetchError {
        var error = self
        error.message = "\(place): \(message)"
        return error
    }

    package init(_ code: Code, _ message: String, advice: String? = nil) {
        self.code = code
        self.message = message
        self.advice = advice
    }
}

extension FetchError {
    /// Creates an error from one of the HTTP client, with a text for users.
    package init(client error: any Error, request: RequestDeclaration, clock: ExchangeClock?) {
        self.init(
            client: error, subject: "\(request.method) \(request.url)",
            connectTimeout: request.transport.connectTimeout,
            timeout: request.timeout, clock: clock)
    }

    /// - Parameter subject: what was asked; nil for the request's own server.
    init(client error: any Error, request: PreparedRequest, subject: String? = nil, clock: ExchangeClock?) {
        self.init(
            client: error, subject: subject ?? "\(request.method) \(request.url)",
            connectTimeout: request.transport.connectTimeout,
            timeout: request.timeout, proxy: request.transport.proxy, clock: clock)
    }

    /// - Parameter subject: what was asked, for the message: the method and the address, or a server.
    init(
        client error: any Error, subject: String, connectTimeout: Duration, timeout: Duration,
        proxy: Transport.Proxy? = nil, clock: ExchangeClock? = nil
    ) {
        if let error = error as? FetchError {
            self = error
            return
        }
        let (code, text): (Code, String) =
            switch error {
            case is AddressGuard.Refusal: (.redirect, "\(error)")
            case let error as HTTPClientError where Self.connecting.contains(error):
                (.timeout, "no connection within \(connectTimeout.secondsText) (connect_timeout)")
            case let error as HTTPClientError where error == .deadlineExceeded || error == .readTimeout:
                (.timeout, clock?.timeoutDetail(after: timeout) ?? "no response within \(timeout.secondsText)")
            case AnswerError.closedBeforeAnswer, AnswerError.leftOver: (.truncated, "\(error)")
            case is AnswerError: (.decoding, "\(error)")
            case let error as HTTPClientError where error == .remoteConnectionClosed:
                (.truncated, ErrorText.words(error))
            case is HTTPParserError: (.truncated, ErrorText.words(error))
            // A body that ends with its connection is complete only if TLS was closed properly (RFC 9112, section 9.8).
            case NIOSSLError.uncleanShutdown:
                (.truncated, "the TLS connection broke off before the response was complete")
            case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError:
                (.connection, "no TLS connection: \(ErrorText.handshake(ErrorText.words(error)))")
            case let error where ErrorText.isRefused(error):
                (
                    .connection,
                    proxy.map { "the proxy \($0.host):\($0.port) refuses the connection; check 'proxy'" }
                        ?? ErrorText.connectionRefused
                )
            case is IOError: (.connection, "the connection broke: \(ErrorText.words(error))")
            default: (.connection, ErrorText.words(error))
            }
        self.init(code, "\(subject): \(text)")
    }

    /// The client's errors for a connection that timed out.
    private static let connecting: [HTTPClientError] = [
        .connectTimeout, .getConnectionFromPoolTimeout, .tlsHandshakeTimeout, .httpProxyHandshakeTimeout,
        .socksHandshakeTimeout,
    ]
}
