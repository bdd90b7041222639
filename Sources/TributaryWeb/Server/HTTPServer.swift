import FeedConfiguration
import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import ServiceLifecycle

/// A server at an address of `[daemon]`, whose connections are limited.
struct HTTPServer {
    /// The time after which a connection without a request is closed.
    private static let idleTimeout = TimeAmount.seconds(15)
    /// The time in which a client that reads nothing is given up.
    private static let mostStalled = TimeAmount.seconds(30)

    let address: ListenAddress
    /// The key that declares the address.
    let key: String
    /// The most connections. One more closes the one that has been idle for the longest time.
    let mostConnections: Int
    var threads = EventLoopGroupProvider.singleton
    let logger: Logger

    /// Answers requests until other work ends, as when the daemon is to stop; cuts off what is not answered by then.
    ///
    /// - Parameters:
    ///   - notice: returns what is logged once it listens at an address.
    ///   - others: work beside the server. The first that ends, ends all.
    /// - Throws: ``WebError`` where the address cannot be used.
    func run<Context: RequestContext>(
        _ router: Router<Context>, notice: @escaping @Sendable (_ address: String) -> String,
        beside others: [@Sendable () async throws -> Void]
    ) async throws where Context.Source == ApplicationRequestContextSource {
        let places = ConnectionPlaces(limit: mostConnections)
        let app = Application(
            router: router,
            server: .http1(
                configuration: .init(
                    additionalChannelHandlers: [
                        StalledClientHandler(Self.mostStalled), ConnectionPlaces.Handler(places),
                    ], idleTimeout: Self.idleTimeout)),
            configuration: ApplicationConfiguration(address: .hostname(address.host, port: address.port)),
            onServerRunning: { [address, logger] channel in
                logger.info("\(notice(address.atPort(channel.localAddress?.port)))")
            }, eventLoopGroupProvider: threads, logger: quietLogger)
        do {
            try await withThrowingTaskGroup { group in
                group.addTask { try await app.run() }
                for other in others { group.addTask { try await other() } }
                defer { group.cancelAll() }
                try await group.next()
            }
        } catch let error as IOError {
            throw WebError.cannotListen(at: address, key, error)
        } catch is CancellationError {
            // The daemon is to stop.
        }
    }

    /// For Hummingbird, whose own words are of no use to operators, but for its errors.
    private var quietLogger: Logger {
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .error)
        return quiet
    }
}

/// Why nothing can be shown over HTTP.
package struct WebError: Error, CustomStringConvertible {
    package let description: String

    /// - Parameter key: that of `[daemon]` which declares the address.
    fileprivate static func cannotListen(at address: ListenAddress, _ key: String, _ error: IOError) -> WebError {
        let reason = String(cString: strerror(error.errnoCode))
        return WebError(
            description: "[daemon] \(key): cannot listen at \(address): \(reason); use another address or port")
    }
}
