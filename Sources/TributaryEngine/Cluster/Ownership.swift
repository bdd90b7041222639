import FeedStores
import Locking

/// The sources that this process may run now, among the daemons that share a store. All runs ask it before they begin.
final class Ownership: Sendable {
    /// A second less than the time after which others count this daemon as dead.
    static let term = Duration.seconds(DaemonRecord.secondsToLive - 1)

    private struct State {
        var sources: Set<String> = []
        /// By the store's uptime.
        var until: Duration
    }

    private let state: Mutex<State>
    private let uptime: @Sendable () -> Duration
    private let change = Mutex<(@Sendable () -> Void)?>(nil)

    /// - Parameter uptime: the time by which the store's claims end.
    init(uptime: @escaping @Sendable () -> Duration) {
        self.uptime = uptime
        state = Mutex(State(until: uptime()))
    }

    /// Has a function called when other sources have become this daemon's.
    func onChange(_ tell: @escaping @Sendable () -> Void) { change.withLock { $0 = tell } }

    func owns(_ source: String) -> Bool {
        state.withLock { $0.sources.contains(source) && uptime() < $0.until }
    }

    var sources: Set<String> { state.withLock(\.sources) }

    /// True once others may count this daemon as dead, as its last sign of life is too long ago.
    var isOver: Bool { state.withLock { uptime() >= $0.until } }

    /// Goes on after a sign of life.
    ///
    /// - Parameter began: the time before the sign was given.
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
