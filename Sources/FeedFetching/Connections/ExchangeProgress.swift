import FeedModel

/// The progress of an exchange. A timeout's error names the step that was late.
package final class ExchangeProgress: Sendable {
    private enum Stage {
        case opening, connecting, sent
        case receiving(Int)
        case reading(Int)
    }

    private let stage = Mutex(Stage.connecting)

    /// The time of past waits for a host, and the start of the current wait.
    private let pauses = Mutex((over: Duration.zero, began: Duration?.none))

    private let active: ActiveTime?
    private let pageName = Mutex(String?.none)

    /// The name of the page that is requested or read; nil for the first one.
    package var page: String? {
        get { pageName.withLock(\.self) }
        set { pageName.withLock { $0 = newValue } }
    }

    /// - Parameter active: measures the time of the exchange's request.
    package init(_ active: ActiveTime? = nil) { self.active = active }

    /// Notes that the exchange waits for a host from this uptime on.
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

    /// Returns the time of all waits for a host. A timeout does not count it.
    package func paused(until uptime: Duration) -> Duration {
        pauses.withLock { pauses in pauses.over + (pauses.began.map { uptime - $0 } ?? .zero) }
    }

    func isOpening() { stage.withLock { $0 = .opening } }

    func isConnecting() { stage.withLock { $0 = .connecting } }

    func isSent() { stage.withLock { $0 = .sent } }

    /// - Parameter bytes: the bytes of the body received so far.
    package func hasReceived(_ bytes: Int) { stage.withLock { $0 = .receiving(bytes) } }

    /// Notes that the whole body is there, and that its documents are read.
    ///
    /// - Parameter bytes: the bytes of the body.
    package func isReading(_ bytes: Int) { stage.withLock { $0 = .reading(bytes) } }

    /// Returns a text that names the late step.
    package func timeoutDetail(after limit: Duration) -> String {
        let limit = limit.secondsText
        return switch stage.withLock({ $0 }) {
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
