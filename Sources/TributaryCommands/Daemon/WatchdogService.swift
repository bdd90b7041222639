import ServiceLifecycle
import TributaryEngine

/// Notifies systemd's watchdog as long as the daemon is healthy, as `/healthz` tells it, or is not in a way that a new
/// process would cure: a disk that is full, or a server that is away, stays what it is, and the daemon goes on when it is
/// mended.
struct WatchdogService: Service {
    let service: SyncService
    let systemd: SystemdNotifier

    func run() async throws {
        guard let interval = systemd.watchdogInterval else {
            return try await gracefulShutdown()
        }
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                let report = await service.health.report()
                if !report.mayBeCuredByRestart { systemd.isAlive() }
                if !report.isGood { systemd.status(report.problems.joined(separator: "; "), mayBeLost: true) }
                // A shutdown ends the sleep and then the loop.
                try? await Task.sleep(for: interval)
            }
        }
    }
}
