import FeedModel
import FeedStores
import Foundation
import Logging
import ServiceLifecycle
import TributaryEngine

/// Logs the outcome of each run once, in the daemon's log.
struct OutcomeService: Service {
    let service: SyncService
    let systemd: SystemdNotifier
    let logger: Logger
    /// The time between two lines of `systemctl status`.
    private static let statusInterval = Duration.seconds(1)

    /// Returns when the service's outcomes end, so that those of a shutdown are logged too.
    func run() async throws {
        var lastStatus = ContinuousClock.now - Self.statusInterval
        for await report in service.outcomes {
            let summary = Figures.summary(report, now: Date())
            let line = "\(report.source): \(report.outcome.rawValue): \(summary)".escapedForTerminal()
            logger.log(level: Self.level(report.outcome), "\(line)")
            guard ContinuousClock.now - lastStatus >= Self.statusInterval else { continue }
            lastStatus = .now
            systemd.status(line)
        }
        // The outcomes end with the service. A service that returns before the group stops it would count as failed.
        try await gracefulShutdown()
    }

    private static func level(_ outcome: RunOutcome) -> Logger.Level {
        switch outcome {
        case .committed, .unchanged: .info
        case .notDue: .debug
        case .discarded, .blocked: .error
        case .cancelled: .warning
        }
    }
}
