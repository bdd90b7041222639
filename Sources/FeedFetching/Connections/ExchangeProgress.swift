import Locking

/// The progress of an exchange, with which a timeout can name the part that was late.
package final class ExchangeProgress: Sendable {
    private enum Stage {
        case connecting, sent
        case receiving(Int)
    }

    private let stage = Mutex(Stage.connecting)

    /// The time that was spent waiting for a host, and the beginning of a wait that goes on.
    private let pauses = Mutex((over: Duration.zero, began: Duration?.none))

    private let active: ActiveTime?
    private let pageName = Mutex(String?.none)

    /// The name of the page that is asked for or read; nil for the first one.
    package var page: String? {
        get { pageName.withLock(\.self) }
        set { pageName.withLock { $0 = newValue } }
    }

    /// - Parameter active: measures the time of the exchange's request.
    package init(_ active: ActiveTime? = nil) { self.active = active }

    /// Notes that the exchange waits for a host, from this time of a clock on.
    package func pause(at uptime: Duration) {
        active?.pause()
        pauses.withLock { $0.began = uptime }
    }

    package func resume(at uptime: Duration) {
        active?.resume()
        pauses.withLock { pauses in
            if let began = pauses.began { pauses.over += uptime - began }
            pauses.began = nil
        }
    }

    /// Returns the time that was spent waiting until now, which is not the server's.
    package func paused(until uptime: Duration) -> Duration {
        pauses.withLock { pauses in pauses.over + (pauses.began.map { uptime - $0 } ?? .zero) }
    }

    func isConnecting() { stage.withLock { $0 = .connecting } }

    func isSent() { stage.withLock { $0 = .sent } }

    /// - Parameter bytes: the bytes of the body received so far.
    package func hasReceived(_ bytes: Int) { stage.withLock { $0 = .receiving(bytes) } }

    /// Returns a text that names the part that did not come in time.
    package func timeoutDetail(after limit: Duration) -> String {
        switch stage.withLock({ $0 }) {
        case .connecting: "no connection within \(limit)"
        case .sent: "no response head within \(limit)"
        case .receiving(let bytes): "the body was not complete within \(limit), \(bytes) bytes came"
        }
    }
}
