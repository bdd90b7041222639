package import Foundation

/// A clock that gives the time of day and can wait: the only one that the engine asks. Tests use their own.
package protocol RunClock: Sendable {
    func now() -> Date
    /// The time since some fixed moment, unaffected by changes of the time of day.
    var uptime: Duration { get }
    /// - Throws: `CancellationError`.
    func sleep(for duration: Duration) async throws
    /// Waits until a date; returns at once if it has passed.
    ///
    /// - Throws: `CancellationError`.
    func sleep(until date: Date) async throws
}

/// A source of random numbers: the only one from which the engine draws. A simulator's repeats them.
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

/// Threads for work that may block. A simulator runs all of it on its own thread.
package protocol WorkThreads: Sendable {
    /// Makes the queue of a scheduler and of its runs, as long as these parse nothing.
    func engineQueue() -> any WorkQueue
    /// Makes a queue whose work is done piece by piece, in the order in which it came.
    func queue(_ label: String) -> any WorkQueue
    /// Runs work on a thread of its own.
    func detach(_ work: @escaping @Sendable () -> Void)
}

package protocol WorkQueue: Sendable {
    func add(_ work: @escaping @Sendable () -> Void)
    /// Stops the process unless the current thread does the queue's work.
    func checkCurrent()
}

extension WorkThreads {
    /// Runs a body that may block for long on a thread of its own.
    func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            detach { continuation.resume(with: Result { try body() }) }
        }
    }
}
