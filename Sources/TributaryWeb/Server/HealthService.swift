package import FeedConfiguration
import Foundation
import Hummingbird
import HummingbirdCore
package import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
package import TributaryEngine

/// `/healthz` alone, at an address of its own, on a thread of its own: whoever asks too much of the page does not keep those
/// out who watch over the daemon.
package struct HealthService: Service {
    private let service: SyncService
    private let address: ListenAddress
    private let logger: Logger

    package init(_ address: ListenAddress, service: SyncService, logger: Logger) {
        self.address = address
        self.service = service
        self.logger = logger
    }

    /// The most connections. One more closes the one that has been idle for the longest time.
    private static let mostConnections = 64
    private static let idleTimeout = TimeAmount.seconds(15)
    /// The time that clients have to read their answers when the daemon is to stop.
    private static let answerTime = Duration.milliseconds(300)

    /// Answers requests until the service group shuts down.
    ///
    /// - Throws: ``WebError`` where the address cannot be used.
    package func run() async throws {
        let router = Router(context: BasicRequestContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: SecurityHeaders(logger: logger))
        router.add(middleware: RequestRefusal())
        // What is wrong is for this machine; that something is, for everybody.
        HealthRoute(service: service, isOpen: { [address] in address.isLoopback }).add(to: router)
        let places = ConnectionPlaces(limit: Self.mostConnections)
        let threads = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let app = Application(
            router: router,
            server: .http1(
                configuration: .init(
                    additionalChannelHandlers: [ConnectionPlaces.Handler(places)], idleTimeout: Self.idleTimeout)),
            configuration: ApplicationConfiguration(address: .hostname(address.host, port: address.port)),
            onServerRunning: { [address, logger] channel in
                logger.info("Health checks are served at \(address.atPort(channel.localAddress?.port))")
            }, eventLoopGroupProvider: .shared(threads), logger: logger.quiet)
        do {
            try await Self.run(app)
        } catch let error as IOError {
            throw WebError.cannotListen(at: address, "health", error)
        } catch is CancellationError {
            // The daemon is to stop.
        }
        try await threads.shutdownGracefully()
    }

    /// Serves until the daemon is to stop. Requests in progress then have a moment for their answers.
    private static func run(_ app: some Service) async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { try await app.run() }
            group.addTask {
                try await gracefulShutdown()
                try await Task.sleep(for: answerTime)
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}

/// Why nothing can be shown over HTTP.
package struct WebError: Error, CustomStringConvertible {
    package let description: String

    /// - Parameter key: that of `[daemon]` which declares the address.
    static func cannotListen(at address: ListenAddress, _ key: String, _ error: IOError) -> WebError {
        let reason = String(cString: strerror(error.errnoCode))
        return WebError(
            description: "[daemon] \(key): cannot listen at \(address): \(reason); use another address or port")
    }
}
