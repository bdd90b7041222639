import Synchronization

/// The progress of an exchange, with which a timeout can name the part that was late.
package final class ExchangeProgress: Sendable {
    private enum Stage {
        case connecting, sent
        case receiving(Int)
    }

    /// The progress of the exchange that the current task waits for.
    @TaskLocal package static var current: ExchangeProgress?

    private let stage = Mutex(Stage.connecting)

    package init() {}

    func isConnecting() { stage.withLock { $0 = .connecting } }

    func isSent() { stage.withLock { $0 = .sent } }

    /// - Parameter bytes: the bytes of the body received so far.
    package func hasReceived(_ bytes: Int) { stage.withLock { $0 = .receiving(bytes) } }

    /// Returns a text that names the part that did not come in time.
    package func lateness(after limit: Duration) -> String {
        switch stage.withLock({ $0 }) {
        case .connecting: "no connection within \(limit)"
        case .sent: "no response head within \(limit)"
        case .receiving(let bytes): "the body was not complete within \(limit), \(bytes) bytes came"
        }
    }
}
