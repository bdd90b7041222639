import FeedStores
import FeedModel

/// The sources that this process may run, among the daemons that share a store. Each run checks it before it begins.
final class Ownership: Sendable {
    /// A second less than the time after which other daemons consider this one dead.
    static let term = Duration.seconds(DaemonRecord.secondsToLive - 1)

    private struct State {
        var sources: Set<String> = []
        /// In the store's uptime.
        var until: Duration
    }

    private let state: Mutex<State>
    private let uptime: @Sendable () -> Duration
    private let change = Mutex<(@Sendable () -> Void)?>(nil)

    /// - Parameter uptime: the clock of the store's leases.
    init(uptime: @escaping @Sendable () -> Duration) {
        self.uptime = uptime
        state = Mutex(State(until: uptime()))
    }

    /// Sets a function that is called when this daemon's sources change.
    func onChange(_ tell: @escaping @Sendable () -> Void) { change.withLock { $0 = tell } }

    func owns(_ source: String) -> Bool {
        state.withLock { $0.sources.contains(source) && uptime() < $0.until }
    }

    var sources: Set<String> { state.withLock(\.sources) }

    /// True if the last heartbeat is so old that other daemons may consider this one dead.
    var isOver: Bool { state.withLock { uptime() >= $0.until } }

    /// Extends the term after a heartbeat.
    ///
    /// - Parameter began: the time before the heartbeat was sent.
    func extend(from began: Duration) { state.withLock { $0.until = began + Self.term } }

    func add(_ sources: some Sequence<String>) {
        state.withLock { $0.sources.formUnion(sources) }
        change.withLock(\.self)?()
    }

    func remove(_ sources: Set<String>) {
        state.withLock { $0.sources.subtract(sources) }
        change.withLock(\.self)?()
    }
}
