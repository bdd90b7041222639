import Dispatch
import FeedDeclarations
import Foundation
import Logging
import ServiceLifecycle
import TributaryEngine
import UnixSignals

/// SIGHUP reloads the configuration, SIGUSR1 refreshes what was asked for, or everything.
struct SignalService: Service {
    let signals: UnixSignalsSequence
    let service: SyncService
    let folder: DaemonFolder
    let systemd: SystemdNotifier
    let logger: Logger
    let loadConfiguration: @Sendable () throws -> TributaryConfiguration

    func run() async throws {
        // Whoever waits for READY may send signals from then on.
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
            logger.error("Configuration not reloaded; the old one stays in force:\n\(error)")
        }
        systemd.ready(status: "running")
    }

    /// Reading files blocks, and a large one takes its time: not on a thread that all tasks share.
    private func loaded() async -> Result<TributaryConfiguration, any Error> {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(returning: Result { try loadConfiguration() })
            }
        }
    }

    private func refresh() {
        switch folder.takeRequests() {
        case .all:
            logger.notice("Refreshing every source")
            service.refresh()
        case .sources(let names):
            logger.notice("Refreshing", metadata: ["sources": "\(names.joined(separator: ","))"])
            service.refresh(names)
        }
    }
}
