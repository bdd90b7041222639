import Synchronization

/// How far an exchange has come, so that a timeout can say what was late.
package final class ExchangeProgress: Sendable {
    private enum Stage {
        case connecting, sent
        case receiving(Int)
    }

    /// That of the exchange that the task waits for.
    @TaskLocal package static var current: ExchangeProgress?

    private let stage = Mutex(Stage.connecting)

    package init() {}

    func isConnecting() { stage.withLock { $0 = .connecting } }

    func isSent() { stage.withLock { $0 = .sent } }

    /// - Parameter bytes: how much of the body has come.
    package func hasReceived(_ bytes: Int) { stage.withLock { $0 = .receiving(bytes) } }

    /// What has not come in time.
    package func lateness(after limit: Duration) -> String {
        switch stage.withLock({ $0 }) {
        case .connecting: "no connection within \(limit)"
        case .sent: "no response head within \(limit)"
        case .receiving(let bytes): "the body was not complete within \(limit), \(bytes) bytes came"
        }
    }
}
