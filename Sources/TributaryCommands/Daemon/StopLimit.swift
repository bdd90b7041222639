import Foundation
import ServiceLifecycle

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
