package import FeedConfiguration
package import FeedStores
import Hummingbird
package import Logging
import ServiceLifecycle
package import TributaryEngine

/// The daemon over HTTP: a page for people, what `--json` prints for programs, its metrics and its health for those who
/// watch over it.
///
/// It reads the store on threads of its own, never on an event loop, and disturbs no run.
package struct WebService: Service {
    private let service: SyncService
    private let declaration: WebDeclaration
    private let metrics: DaemonMetrics
    private let logger: Logger
    private let makeTrialStore: @Sendable (_ path: String, _ schema: String) throws -> any MainStore

    /// - Parameters:
    ///   - metrics: those of the service.
    ///   - makeTrialStore: creates a store in a file, in which a document is tried.
    package init(
        _ declaration: WebDeclaration, service: SyncService, metrics: DaemonMetrics, logger: Logger,
        makeTrialStore: @escaping @Sendable (_ path: String, _ schema: String) throws -> any MainStore
    ) {
        self.makeTrialStore = makeTrialStore
        self.declaration = declaration
        self.service = service
        self.metrics = metrics
        self.logger = logger
    }

    private static let mostConnections = 256
    /// The time that the store has for what is under way when the daemon is to stop, and then the time to tell those who
    /// still wait for it. The rest of the daemon waits for both.
    private static let stopTimes = (store: Duration.milliseconds(700), clients: Duration.milliseconds(300))

    /// Answers requests until the service group shuts down.
    ///
    /// - Throws: ``WebError`` where the address cannot be used.
    package func run() async throws {
        let address = declaration.address
        let store = StoreQueue(service.store)
        let router = Router(context: PageContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: SecurityHeaders(logger: logger))
        router.add(middleware: RequestRefusal(forms: [TryPage.path: TryPage.mostBytes]))
        let tokens: @Sendable () -> AccessTokens = { [service] in
            AccessTokens(service.configuration.web, listeningAt: address)
        }
        router.add(middleware: AccessGuard(tokens: tokens))
        let followers = FollowerLimit()
        // Where no rows of the store are shown, none of other documents are.
        let tries = declaration.showsRows && (declaration.token != nil || address.isLoopback)
        var tryOut: TryOut?
        if tries {
            tryOut = { [service, makeTrialStore] subject, toml in
                try await service.tryOut(subject, by: toml, makeStore: makeTrialStore)
            }
        }
        API(service: service, store: store, showsRows: declaration.showsRows, followers: followers, tryOut: tryOut)
            .add(to: router)
        MetricsRoute(service: service, registry: metrics.registry).add(to: router)
        HealthRoute(service: service, isOpen: { address.isLoopback && tokens().token == nil }).add(to: router)
        let links =
            (declaration.showsRows ? [Link(name: "Tables", address: "/tables")] : [])
            + (tries ? [Link(name: "Try a URL", address: TryPage.path)] : [])
            + [Link(name: "Daemon", address: DaemonPage.path)]
        let pages = try Pages(
            service: service, store: store, logger: logger, templates: Templates(), links: links,
            showsRows: declaration.showsRows, live: followers)
        TablePages(pages: pages).add(to: router)
        TryPage(pages: pages, tryOut: tryOut).add(to: router)
        pages.add(to: router)
        let stopping: @Sendable () async throws -> Void = {
            await pages.warmUp()
            try await gracefulShutdown()
            // Other services stop after this one has ended. Whoever waits for the store, or does not read its answer, is
            // cut off.
            store.store.stopWaiting()
            try await Task.sleep(for: Self.stopTimes.store)
            store.close()
            try await Task.sleep(for: Self.stopTimes.clients)
        }
        let figures: @Sendable () async throws -> Void = { [metrics] in await pages.figures.follow(metrics.registry) }
        defer { store.close() }
        let server = HTTPServer(
            address: address, key: "listen", mostConnections: Self.mostConnections, logger: logger)
        try await server.run(router, notice: { "The page is at http://\($0)/" }, beside: [figures, stopping])
    }
}
