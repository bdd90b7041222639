import FeedConfiguration
import Logging
import ServiceLifecycle
import TributaryEngine
import UnixSignals

/// Handles signals: SIGHUP reloads the configuration, SIGUSR1 refreshes all sources, SIGUSR2 reads the messages of other
/// processes.
struct SignalService: Service {
    let signals: UnixSignalsSequence
    let service: SyncService
    /// nil where several daemons may run, who get messages through the store.
    let folder: DaemonFolder?
    let systemd: SystemdNotifier
    let logger: Logger
    let loadConfiguration: @Sendable () throws -> TributaryConfiguration

    func run() async throws {
        // After READY, others may send signals.
        systemd.ready(status: "running")
        for await signal in signals.cancelOnGracefulShutdown() {
            switch signal {
            case .sighup: await reload()
            case .sigusr1: refresh(nil)
            default: for message in folder?.takeMessages() ?? [] { await take(message) }
            }
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

    private func take(_ message: DaemonFolder.Message) async {
        switch message {
        case .refresh(let names): refresh(names.isEmpty ? nil : names)
        case .ran(let names):
            do {
                try await SystemThreads().run { [service] in try service.noteRuns(of: names) }
            } catch {
                logger.warning("Runs of other processes cannot be read", metadata: ["error": "\(error)"])
            }
        }
    }

    private func refresh(_ names: [String]?) {
        if let names {
            logger.notice("Refreshing", metadata: ["sources": "\(names.joined(separator: ","))"])
        } else {
            logger.notice("Refreshing every source")
        }
        service.refresh(names)
    }
}
