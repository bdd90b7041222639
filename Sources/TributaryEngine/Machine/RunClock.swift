package import Foundation

/// The only clock of the engine: the time of day, the uptime and sleeps. Tests use their own.
package protocol RunClock: Sendable {
    func now() -> Date
    /// The time since an arbitrary fixed moment, unaffected by changes of the time of day.
    var uptime: Duration { get }
    /// - Throws: `CancellationError`.
    func sleep(for duration: Duration) async throws
    /// Waits until a date; returns at once if it has passed.
    ///
    /// - Throws: `CancellationError`.
    func sleep(until date: Date) async throws
}

/// The engine's only source of random numbers. The simulator derives them from a seed.
package protocol RandomSource: Sendable {
    func next() -> UInt64
}

extension RandomSource {
    /// Returns a number from 0 to 1, 1 excluded.
    func fraction() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// Returns a number within a range.
    func number(in range: ClosedRange<Double>) -> Double {
        range.lowerBound + fraction() * (range.upperBound - range.lowerBound)
    }

    /// Returns 128 random bits as 32 hexadecimal digits.
    func identifier() -> String {
        [next(), next()].map { bits in
            let digits = String(bits, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

/// Threads for blocking work. The simulator runs all work on its own thread.
package protocol WorkThreads: Sendable {
    /// Creates the queue of a scheduler and of its runs before they parse a body.
    func engineQueue() -> any WorkQueue
    /// Creates a serial queue.
    func queue(_ label: String) -> any WorkQueue
    /// Runs work on a thread of its own.
    func detach(_ work: @escaping @Sendable () -> Void)
}

package protocol WorkQueue: Sendable {
    func add(_ work: @escaping @Sendable () -> Void)
    /// Stops the process unless the current thread runs the queue's work.
    func checkCurrent()
}

extension WorkThreads {
    /// Runs a blocking body on a thread of its own.
    func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            detach { continuation.resume(with: Result { try body() }) }
        }
    }
}
