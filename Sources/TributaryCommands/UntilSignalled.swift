import Foundation
import UnixSignals

/// Runs an operation, and cancels it on SIGINT or SIGTERM. The process ends with status 1 where that does not end it within
/// five seconds.
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
            for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) {
                onSignal()
                StopLimit.begin(status: 1) {
                    FileHandle.standardError.show("not all ended within five seconds, and was cut off\n")
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
