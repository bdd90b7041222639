import FeedModel
import FeedStore
import Foundation
import Logging
import ServiceLifecycle
import TributaryEngine

/// Logs what each run did: once, where the daemon's log is read.
struct OutcomeService: Service {
    let service: SyncService
    let systemd: SystemdNotifier
    let logger: Logger

    /// Ends with the service's outcomes, so that those of a shutdown are logged, too.
    func run() async throws {
        for await report in service.outcomes {
            let summary = Figures.summary(report, now: Date())
            let line = "\(report.source): \(report.outcome.rawValue): \(summary)"
            logger.log(level: Self.level(report.outcome), "\(line)")
            systemd.status(line)
        }
        // The outcomes end with the service; a group takes one that ends before it is told to for one that has failed.
        try await gracefulShutdown()
    }

    private static func level(_ outcome: RunOutcome) -> Logger.Level {
        switch outcome {
        case .committed, .unchanged: .info
        case .fresh: .debug
        case .discarded: .error
        case .cancelled: .warning
        }
    }
}
