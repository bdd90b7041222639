import ArgumentParser
import FeedConfiguration
import FeedStores
import Foundation
import Logging
import ServiceLifecycle
import TributaryEngine
import TributaryStores
import TributaryWeb
import UnixSignals

struct RunCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run the daemon in the foreground.",
        discussion: """
            Several daemons may share one store in PostgreSQL and its sources. SIGTERM and SIGINT stop it; SIGHUP \
            reloads the configuration; SIGUSR1 refreshes every source. Under systemd it is Type=notify with a \
            watchdog.

            Example:
              tributary run --log-level warning
            """)

    @OptionGroup var options: GlobalOptions

    @Option(
        name: .long, help: "The least severe log level: trace, debug, info, notice, warning, error or critical.",
        transform: { text in
            guard let level = Logger.Level(rawValue: text) else {
                throw ValidationError("there is no log level '\(text)'")
            }
            return level
        })
    var logLevel: Logger.Level = .info

    func run(_ program: Program) async throws {
        let configuration = try program.writingConfiguration(options)
        let logger = Logger.console(logLevel)
        // Signals are trapped before other processes can find this one: until then, their default action would end it.
        let trapped = await UnixSignalsSequence(trapping: .sighup, .sigusr1, .sigusr2)
        let folder = DaemonFolder(configuration)
        let presence = try folder?.claim()
        defer { presence?.release() }
        let metrics = configuration.web.map { _ in DaemonMetrics() }
        let makeService = { try program.service(configuration, logger: logger) }
        let service = try metrics?.measuring(makeService) ?? makeService()
        // Before the presence is released, after which another daemon may start.
        defer { try? service.close() }
        let systemd = SystemdNotifier()
        let file = options.configurationFile
        let signals = SignalService(
            signals: trapped, service: service, folder: folder, systemd: systemd, logger: logger,
            loadConfiguration: {
                try program.checkingScopes(of: TributaryConfiguration(file: file, parsers: program.parsers))
            })
        let outcomes = OutcomeService(service: service, systemd: systemd, logger: logger)
        let watchdog = WatchdogService(service: service, systemd: systemd)
        let store = StoreService(service: service, logger: logger)
        var web: [any Service] = []
        if let declaration = configuration.web, let metrics {
            web = [
                WebService(
                    declaration, service: service, metrics: metrics, logger: logger,
                    makeTrialStore: TributaryConfiguration.makeTrialStore)
            ]
        }
        if let address = configuration.health {
            web.append(HealthService(address, service: service, logger: logger))
        }

        logger.info(
            "Running",
            metadata: [
                "config": "\(file)", "store": "\(service.store.name)",
                "sources": "\(configuration.enabledSources.count)",
            ])
        let cutOff = "Some work did not end within 4 seconds and was cancelled"
        let limit = StopLimit(status: { store.status }) { logger.warning("\(cutOff)") }
        let others: [any Service] = [outcomes, service, watchdog, signals] + web + [limit]
        // Without its store the daemon ends as after a signal: what is cancelled would log errors of its own.
        var group = ServiceGroupConfiguration(
            services: others.map { .init(service: $0) } + [
                .init(service: store, failureTerminationBehavior: .gracefullyShutdownGroup)
            ],
            gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        group.maximumGracefulShutdownDuration = .seconds(4)
        do {
            try await ServiceGroup(configuration: group).run()
        } catch is CancellationError {
            // Nothing is half there: what was cut off is as if it had not been.
            logger.warning("\(cutOff)")
        }
        systemd.notify("STOPPING=1")
        logger.info("Stopped")
    }
}
