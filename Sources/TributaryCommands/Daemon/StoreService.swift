import ArgumentParser
import FeedModel
import FeedStore
import Logging
import ServiceLifecycle
import TributaryEngine

/// Ends the daemon when its store's files have been deleted or replaced: started again, it opens what is there.
struct StoreService: Service {
    /// That of an input/output error (sysexits.h, EX_IOERR): systemd restarts what ends with it.
    static let exitStatus = ExitCode(74)

    let service: SyncService
    let logger: Logger

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown { try await service.watchStore() }
        } catch let error as StoreError {
            logger.critical("\(error)")
            throw Self.exitStatus
        } catch is CancellationError {
            // Shutting down, or another service has ended the group.
        }
    }
}
