package import Foundation

/// Tells work to stop, from any thread: the work of one run, or all work on a store.
///
/// A request may leave the work some time to end by itself. After that, ``Work/cancel`` is called until the work has ended, and
/// after ``timeToCancel`` also ``Work/end``. Work without a `cancel` is ended at once.
package final class Stop: Sendable {
    /// The ways to end work that is in progress.
    package struct Work: Sendable {
        /// Asks for the end of the statement in progress, and may block. A call between two statements ends neither.
        var cancel: (@Sendable () -> Void)?
        /// Ends each wait of the work. It neither blocks nor uses the ``Stop``.
        var end: @Sendable () -> Void

        package init(cancel: (@Sendable () -> Void)? = nil, end: @escaping @Sendable () -> Void) {
            self.cancel = cancel
            self.end = end
        }
    }

    private struct State {
        var deadline: ContinuousClock.Instant?
        var works: [Int: Work] = [:]
        var lastID = 0
    }

    /// The time in which a server can cancel a statement.
    private static let timeToCancel = Duration.seconds(1)
    private static let timeBetweenCancellations = Duration.milliseconds(50)

    private let state = Mutex(State())

    package init() {}

    package var isRequested: Bool { deadline != nil }

    /// The time by which work ends by itself; nil until the stop is requested.
    package var deadline: ContinuousClock.Instant? { state.withLock(\.deadline) }

    /// True while there is work to be stopped.
    package var hasWork: Bool { state.withLock { !$0.works.isEmpty } }

    /// - Throws: `CancellationError` if the stop has been requested.
    package func check() throws {
        if isRequested { throw CancellationError() }
    }

    /// Requests the stop. Later calls have no effect.
    ///
    /// - Parameter time: the time that work has to end by itself.
    package func request(within time: Duration = .zero) {
        let isFirst = state.withLock { state in
            defer { state.deadline = state.deadline ?? .now + time }
            return state.deadline == nil
        }
        guard isFirst else { return }
        guard time > .zero else { return endWork() }
        Thread.detachNewThread { [self] in
            Thread.sleep(forTimeInterval: time / .seconds(1))
            endWork()
        }
    }

    private func endWork() {
        let cancellable = state.withLock { state in
            // Under the lock: afterwards, the connection of work that has ended may be in use for other work.
            for work in state.works.values where work.cancel == nil { work.end() }
            return state.works.compactMap { entry in entry.value.cancel.map { (id: entry.key, cancel: $0) } }
        }
        let end = ContinuousClock.now + Self.timeToCancel
        for (id, cancel) in cancellable {
            // A server that does not answer blocks the thread.
            Thread.detachNewThread { [self] in
                while ContinuousClock.now < end, state.withLock({ $0.works[id] != nil }) {
                    cancel()
                    Thread.sleep(forTimeInterval: Self.timeBetweenCancellations / .seconds(1))
                }
            }
        }
        Thread.detachNewThread { [self] in
            Thread.sleep(forTimeInterval: Self.timeToCancel / .seconds(1))
            state.withLock { for work in $0.works.values { work.end() } }
        }
    }

    // MARK: - Work

    /// Adds work to be ended by a request. Work that is added after all other work has been ended is ended at once.
    ///
    /// - Returns: the number by which the work is removed.
    @discardableResult
    package func add(_ work: Work) -> Int { state.withLock { Self.add(work, to: &$0) } }

    package func remove(_ id: Int) { state.withLock { $0.works[id] = nil } }

    private static func add(_ work: Work, to state: inout State) -> Int {
        state.lastID += 1
        state.works[state.lastID] = work
        let end = state.deadline.map { work.cancel == nil ? $0 : $0 + timeToCancel }
        if let end, end <= .now { work.end() }
        return state.lastID
    }

    /// Runs a body that is ended by a request, with the error that this causes.
    package func whileInProgress<Value>(_ work: Work, _ body: () throws -> Value) rethrows -> Value {
        let id = add(work)
        defer { remove(id) }
        return try body()
    }

    /// Runs a body that is ended by a request.
    ///
    /// - Throws: `CancellationError` if the stop was requested before, or if the body fails after the request; the errors of
    ///   the body.
    package func whileStoppable<Value>(_ work: Work, _ body: () throws -> Value) throws -> Value {
        let id = try state.withLock { state in
            guard state.deadline == nil else { throw CancellationError() }
            return Self.add(work, to: &state)
        }
        defer { remove(id) }
        do { return try body() } catch {
            try check()
            throw error
        }
    }

    /// Waits until another thread signals.
    ///
    /// - Parameter seconds: the longest wait; nil for any.
    /// - Throws: `CancellationError` if the stop is requested.
    package func wait(for signal: DispatchSemaphore, seconds: Double? = nil) throws {
        whileInProgress(Work(end: { signal.signal() })) {
            if let seconds { _ = signal.wait(timeout: .now() + seconds) } else { signal.wait() }
        }
        try check()
    }
}
