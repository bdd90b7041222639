import Dispatch
import FeedConfiguration
import Foundation
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
            let configuration = try await loaded().get()
            service.reload(configuration)
            logger.notice("Configuration reloaded", metadata: ["sources": "\(configuration.enabledSources.count)"])
        } catch {
            logger.error("Configuration not reloaded; the old one stays active:\n\(error)")
        }
        systemd.ready(status: "running")
    }

    /// Loads the configuration on a thread of its own: reading files blocks, and a large file takes time, so it must
    /// not occupy a thread that all tasks share.
    private func loaded() async -> Result<TributaryConfiguration, any Error> {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(returning: Result { try loadConfiguration() })
            }
        }
    }

    private func refresh() {
        switch folder?.takeRequests() ?? .all {
        case .all:
            logger.notice("Refreshing every source")
            service.refresh()
        case .sources(let names):
            logger.notice("Refreshing", metadata: ["sources": "\(names.joined(separator: ","))"])
            service.refresh(names)
        }
    }
}
