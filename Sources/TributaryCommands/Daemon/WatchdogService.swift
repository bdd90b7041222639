import ServiceLifecycle
import TributaryEngine

/// Notifies systemd's watchdog as long as the scheduler's loop answers.
struct WatchdogService: Service {
    let service: SyncService
    let systemd: SystemdNotifier

    func run() async throws {
        guard let interval = systemd.watchdogInterval else {
            return try await gracefulShutdown()
        }
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await service.heartbeat()
                systemd.notify("WATCHDOG=1")
                // A shutdown ends the sleep and then the loop.
                try? await Task.sleep(for: interval)
            }
        }
    }
}
