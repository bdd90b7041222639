import Synchronization

/// Tells which request a connection was given, as async-http-client does not. A request carries its ticket's number in
/// a header, which the connection's handler removes before anything is sent.
final class SendTickets: Sendable {
    /// A request on its way to a connection.
    final class Ticket: Sendable {
        let number: Int
        private let progress: ExchangeProgress?
        private let sent = Mutex(false)

        fileprivate init(_ number: Int, _ progress: ExchangeProgress?) {
            self.number = number
            self.progress = progress
        }

        /// True once a connection has begun to send the request.
        var isSent: Bool { sent.withLock { $0 } }

        fileprivate func noteSent() {
            sent.withLock { $0 = true }
            progress?.isSent()
        }
    }

    static let header = "tributary-ticket"

    private struct State {
        var issued: [Int: Ticket] = [:]
        var last = 0
    }

    private let state = Mutex(State())

    func issue(for progress: ExchangeProgress?) -> Ticket {
        state.withLock { state in
            state.last &+= 1
            let ticket = Ticket(state.last, progress)
            state.issued[ticket.number] = ticket
            return ticket
        }
    }

    /// Forgets a ticket whose request was answered or never will be.
    func drop(_ ticket: Ticket) { state.withLock { $0.issued[ticket.number] = nil } }

    /// Notes that a connection sends the request with this ticket number.
    func noteSent(_ number: String) {
        guard let number = Int(number), let ticket = state.withLock({ $0.issued[number] }) else { return }
        ticket.noteSent()
    }
}
