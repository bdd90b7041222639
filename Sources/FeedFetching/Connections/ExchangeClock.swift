import FeedModel

/// The clock of one exchange: its step, and the time spent without pauses. A pause moves the end of its timeout.
///
/// The clock of a request with several exchanges at a time counts their parts. It stops while all of them pause.
package final class ExchangeClock: Sendable {
    private enum Stage {
        case opening, connecting, sent
        case receiving(Int)
        case reading(Int)
    }

    private struct State {
        var stage = Stage.connecting
        var page: String?
        /// The parts that do not pause.
        var running = 1
        /// The time spent until the clock was started or stopped last, and the uptime of that.
        var spent = Duration.zero
        /// The time spent before the message that is sent or received.
        var spentBefore = Duration.zero
        var since: Duration
        /// Returns the time for which the load has waited for a slot, which does not count; and its value at the start.
        var waited: @Sendable () -> Duration
        var waitedBefore: Duration
    }

    private let uptime: @Sendable () -> Duration
    /// The clock of the request, if this is one of its exchanges.
    private let whole: ExchangeClock?
    private let state: Mutex<State>

    /// Starts a clock.
    ///
    /// - Parameters:
    ///   - uptime: the time since an arbitrary fixed moment.
    ///   - whole: the clock of the request, which pauses with this one unless other parts of it run.
    ///   - waited: returns the time for which the load has waited for a slot.
    package init(
        uptime: @escaping @Sendable () -> Duration, partOf whole: ExchangeClock? = nil,
        waited: @escaping @Sendable () -> Duration = { .zero }
    ) {
        self.uptime = uptime
        self.whole = whole
        state = Mutex(State(since: uptime(), waited: waited, waitedBefore: waited()))
    }

    /// The time spent so far, without pauses and waits for a slot.
    package var spent: Duration { state.withLock { spent($0) } }

    /// The part of ``spent`` that counts for the timeout.
    package var spentOnMessage: Duration { state.withLock { spent($0) - $0.spentBefore } }

    private func spent(_ state: State) -> Duration {
        let running = state.running > 0 ? uptime() - state.since : .zero
        return max(.zero, state.spent + running - (state.waited() - state.waitedBefore))
    }

    /// Begins a message with a timeout of its own: one of the many of a folder in a bucket.
    func beginMessage() { state.withLock { $0.spentBefore = spent($0) } }

    /// Stops the clock, unless other parts run.
    package func pause() {
        change(by: -1)
        whole?.pause()
    }

    /// Starts the clock, or adds a part that runs.
    package func resume() {
        change(by: 1)
        whole?.resume()
    }

    /// Starts the clock of an exchange that a load continues.
    ///
    /// - Parameter waited: returns the time for which the load has waited for a slot.
    package func resume(waited: @escaping @Sendable () -> Duration) {
        state.withLock { state in
            state.spent -= state.waited() - state.waitedBefore
            (state.waited, state.waitedBefore) = (waited, waited())
        }
        resume()
    }

    /// Runs a wait that does not count.
    package func pausing<Value>(
        isolation: isolated (any Actor)? = #isolation, _ wait: () async throws -> Value
    ) async rethrows -> Value {
        pause()
        defer { resume() }
        return try await wait()
    }

    private func change(by parts: Int) {
        state.withLock { state in
            let now = uptime()
            if state.running > 0 { state.spent += now - state.since }
            state.since = now
            state.running += parts
        }
    }

    // MARK: - The step

    /// The name of the page that is requested or read; nil for the first one.
    package var page: String? {
        get { state.withLock(\.page) }
        set { state.withLock { $0.page = newValue } }
    }

    func isOpening() { state.withLock { $0.stage = .opening } }

    func isConnecting() { state.withLock { $0.stage = .connecting } }

    func isSent() { state.withLock { $0.stage = .sent } }

    /// - Parameter bytes: the bytes of the body received so far.
    package func hasReceived(_ bytes: Int) { state.withLock { $0.stage = .receiving(bytes) } }

    /// Notes that the whole body is there, and that its documents are read.
    ///
    /// - Parameter bytes: the bytes of the body.
    package func isReading(_ bytes: Int) { state.withLock { $0.stage = .reading(bytes) } }

    /// Returns a text that names the late step.
    package func timeoutDetail(after limit: Duration) -> String {
        let limit = limit.secondsText
        return switch state.withLock({ $0.stage }) {
        case .opening: "the file system did not answer within \(limit); raise 'timeout'"
        case .connecting: "no connection within \(limit)"
        case .sent: "no response within \(limit); raise 'timeout'"
        case .receiving(let bytes):
            "the body was not complete within \(limit); \(bytes) bytes were received; raise 'timeout'"
        case .reading(let bytes):
            "the documents in the body of \(bytes) bytes were not read within \(limit); raise 'timeout'"
        }
    }
}

extension Duration {
    /// The seconds as messages show them: `3 s`, `0.3 s`.
    package var secondsText: String {
        let seconds = self / .seconds(1)
        return seconds == seconds.rounded() ? "\(components.seconds) s" : "\(seconds) s"
    }

    /// The time in its largest unit of which there are two, rounded up: `90 s`, `5 min`, `3 h`, `7 days`.
    package var roughText: String {
        let (name, unit) =
            switch self {
            case ..<Duration.seconds(120): ("s", 1.0)
            case ..<Duration.seconds(7_200): ("min", 60.0)
            case ..<Duration.seconds(172_800): ("h", 3_600.0)
            default: ("days", 86_400.0)
            }
        return "\(Int((self / .seconds(unit)).rounded(.up))) \(name)"
    }
}
