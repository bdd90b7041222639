import Foundation
import FeedModel
import UnixSignals

/// The signal that stopped a command.
enum StopSignal {
    private static let received = Mutex<UnixSignal?>(nil)

    fileprivate static func record(_ signal: UnixSignal) { received.withLock { $0 = signal } }

    /// Ends the process by the signal that it received, if any: a shell then shows 130 or 143, and stops its own loop.
    static func endProcess() {
        guard let signal = received.withLock({ $0 })?.rawValue else { return }
        Foundation.signal(signal, SIG_DFL)
        // The threads of Dispatch block all signals.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, signal)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        raise(signal)
    }
}

/// Runs an operation, and cancels it on SIGINT or SIGTERM. Where that does not end it within five seconds, the signal
/// ends the process.
///
/// - Parameter onSignal: called first.
func untilSignalled<Value: Sendable>(
    onSignal: @escaping @Sendable () -> Void = {}, _ operation: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Value?.self) { group in
        let running = Task { try await operation() }
        group.addTask {
            try await withTaskCancellationHandler {
                try await running.value
            } onCancel: {
                running.cancel()
            }
        }
        group.addTask {
            for await signal in await UnixSignalsSequence(trapping: .sigint, .sigterm) {
                StopSignal.record(signal)
                onSignal()
                StopLimit.begin(status: 128 + signal.rawValue) {
                    FileHandle.standardError.show("some work did not end within 5 seconds and was cancelled\n")
                    StopSignal.endProcess()
                }
                running.cancel()
            }
            return nil
        }
        defer { group.cancelAll() }
        while let value = try await group.next() {
            if let value { return value }
        }
        throw CancellationError()
    }
}
