import ArgumentParser
import FeedModel
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

/// Ends the process that was asked to stop and cannot: a server, a disk or a name server that it waits for may never answer.
/// What was under way is then as after a crash: the store is as it was before a commit, or as it is after it.
struct StopLimit: Service {
    /// The time after which nothing is waited for, so that the process ends within five seconds.
    private static let limit = 4.7

    /// - Parameters:
    ///   - status: the exit status of a process that had to be ended.
    ///   - beforeExit: called on a thread of its own before the end.
    static func begin(status: Int32, _ beforeExit: @escaping @Sendable () -> Void) {
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: limit)
            // It, too, may wait for somebody who reads nothing.
            Thread.detachNewThread {
                beforeExit()
                _exit(status)
            }
            Thread.sleep(forTimeInterval: 0.1)
            _exit(status)
        }
    }

    /// The exit status of a process that has to be ended.
    let status: @Sendable () -> Int32
    let beforeExit: @Sendable () -> Void

    /// Waits until the service group shuts down. The last service of a group stops first.
    func run() async throws {
        try await gracefulShutdown()
        Self.begin(status: status(), beforeExit)
    }
}
