package import FeedConfiguration
import Hummingbird
package import Logging
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

    private static let mostConnections = 64
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
        let threads = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let server = HTTPServer(
            address: address, key: "health", mostConnections: Self.mostConnections, threads: .shared(threads),
            logger: logger)
        let stopping: @Sendable () async throws -> Void = {
            try await gracefulShutdown()
            try await Task.sleep(for: Self.answerTime)
        }
        try await server.run(router, notice: { "Health checks are served at \($0)" }, beside: [stopping])
        try await threads.shutdownGracefully()
    }
}
