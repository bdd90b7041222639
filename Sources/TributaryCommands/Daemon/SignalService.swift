import FeedConfiguration
import Logging
import ServiceLifecycle
import TributaryEngine
import UnixSignals

/// Handles signals: SIGHUP reloads the configuration, SIGUSR1 refreshes the requested sources, or all.
struct SignalService: Service {
    let signals: UnixSignalsSequence
    let service: SyncService
    /// nil where several daemons may run, who get the names of sources through the store.
    let folder: DaemonFolder?
    let systemd: SystemdNotifier
    let logger: Logger
    let loadConfiguration: @Sendable () throws -> TributaryConfiguration

    func run() async throws {
        // After READY, others may send signals.
        systemd.ready(status: "running")
        for await signal in signals.cancelOnGracefulShutdown() {
            if signal == .sighup { await reload() } else { refresh() }
        }
    }

    private func reload() async {
        systemd.reloading()
        do {
            // Reading files blocks, and a large file takes time.
            let configuration = try await SystemThreads().run(loadConfiguration)
            service.reload(configuration)
            logger.notice("Configuration reloaded", metadata: ["sources": "\(configuration.enabledSources.count)"])
        } catch {
            logger.error("Configuration not reloaded; the old one stays active:\n\(error)")
        }
        systemd.ready(status: "running")
    }

    private func refresh() {
        let names = folder?.takeRequests()
        if let names {
            logger.notice("Refreshing", metadata: ["sources": "\(names.joined(separator: ","))"])
        } else {
            logger.notice("Refreshing every source")
        }
        service.refresh(names)
    }
}
