import ArgumentParser
import FeedModel
import FeedStores
import Logging
import ServiceLifecycle
import TributaryEngine

/// Ends the daemon when its store's files have been deleted or replaced. When it is started again, it opens the files
/// that are there.
struct StoreService: Service {
    /// The exit status for an input/output error (sysexits.h, EX_IOERR), after which systemd restarts the daemon.
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
            // The daemon is shutting down, or another service has ended the group.
        }
    }
}
