public import Synchronization

/// A value behind a lock: `Synchronization.Mutex` that is never inlined into its caller.
///
/// On Linux that mutex keeps the number of the thread that holds it, which it reads from the thread's own storage. Where it
/// is inlined into an asynchronous function, the optimizer of Swift 6.3 computes the storage's address once and uses it again
/// after a suspension, on another thread. The lock then belongs to a thread that does not hold it, and the program ends with
/// "Call to unlock Mutex on a thread which hasn't acquired the lock". A function of its own has no suspension to cross.
///
/// Public because the optimizer specializes no generic function of another module that is only `package`. In the package it is
/// `Mutex`.
public struct LockedValue<Value: ~Copyable>: ~Copyable, Sendable {
    @usableFromInline let mutex: Synchronization.Mutex<Value>

    @inlinable
    public init(_ value: consuming sending Value) { mutex = Synchronization.Mutex(value) }

    /// Runs a body that has the value to itself.
    ///
    /// - Throws: the body's error.
    @inlinable @inline(never)
    public borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try mutex.withLock(body)
    }
}

package typealias Mutex<Value: ~Copyable> = LockedValue<Value>
