import ArgumentParser
import FeedModel
import FeedStores
import Logging
import ServiceLifecycle
import TributaryEngine

/// Ends the daemon when its store's files have been deleted or replaced. When it is started again, it opens the files
/// that are there.
final class StoreService: Service {
    /// The exit status for an input/output error (sysexits.h, EX_IOERR), after which systemd restarts the daemon.
    static let exitStatus = ExitCode(74)

    private let service: SyncService
    private let logger: Logger
    private let isLost = Mutex(false)

    init(service: SyncService, logger: Logger) {
        self.service = service
        self.logger = logger
    }

    /// The exit status of the daemon.
    var status: Int32 { isLost.withLock(\.self) ? Self.exitStatus.rawValue : 0 }

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown { try await self.service.watchStore() }
        } catch let error as StoreError {
            logger.critical("\(error)")
            isLost.withLock { $0 = true }
            throw Self.exitStatus
        } catch is CancellationError {
            // The daemon is shutting down, or another service has ended the group.
        }
    }
}
