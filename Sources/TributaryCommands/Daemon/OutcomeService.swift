import FeedModel
import FeedStores
import Foundation
import Logging
import ServiceLifecycle
import TributaryEngine

/// Logs the outcome of each run once, in the daemon's log, and shows the latest in `systemctl status`.
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
            let level = Self.level(report.outcome)
            let isStatus = ContinuousClock.now - lastStatus >= Self.statusInterval
            // Most runs find nothing new, and are not worth a line.
            guard isStatus || level >= logger.logLevel else { continue }
            let summary = Figures.summary(report, now: Date())
            let line = "\(report.source): \(report.outcome.rawValue): \(summary)".escapedForTerminal()
            logger.log(level: level, "\(line)")
            guard isStatus else { continue }
            lastStatus = .now
            systemd.status(line)
        }
        // The outcomes end with the service. A service that returns before the group stops it would count as failed.
        try await gracefulShutdown()
    }

    private static func level(_ outcome: RunOutcome) -> Logger.Level {
        switch outcome {
        case .committed: .info
        case .unchanged, .notDue: .debug
        case .discarded, .blocked: .error
        case .cancelled: .warning
        }
    }
}
