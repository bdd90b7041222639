import FeedStores

/// What the daemons of one store tell each other through it, by LISTEN and NOTIFY of PostgreSQL.
final class Messages: @unchecked Sendable {
    private struct Listening: StoreListening, @unchecked Sendable {
        let messages: Messages
        let process: EventLoop.Process

        func stop() { messages.forget(process) }
    }

    private let loop: EventLoop
    private let faults: Faults
    private var receivers: [EventLoop.Process: ([StoreMessage]) -> Void] = [:]
    /// The processes that cannot reach the store.
    private var cutOff: Set<EventLoop.Process> = []

    init(_ loop: EventLoop, _ faults: Faults) {
        self.loop = loop
        self.faults = faults
    }

    func listen(
        as process: EventLoop.Process, _ receive: @escaping @Sendable ([StoreMessage]) -> Void
    ) -> any StoreListening {
        receivers[process] = receive
        deliver(.daemonsChanged, to: process)
        return Listening(messages: self, process: process)
    }

    /// Takes note that a process listens no longer.
    func forget(_ process: EventLoop.Process) { receivers[process] = nil }

    /// - Parameter sender: the one that does not get the message; nil for nobody.
    func send(_ message: StoreMessage, from sender: EventLoop.Process?) {
        for process in receivers.keys.sorted() where process != sender && !cutOff.contains(process) {
            deliver(message, to: process)
        }
    }

    private func deliver(_ message: StoreMessage, to process: EventLoop.Process) {
        let time = faults.number(in: 1...200, "message:\(process)")
        loop.run(as: process) {
            _ = loop.after(.milliseconds(time)) { [self] in receivers[process]?([message]) }
        }
    }

    func lose(_ process: EventLoop.Process) {
        guard cutOff.insert(process).inserted else { return }
        deliver(.lost("the connection is lost"), to: process)
    }

    func regain(_ process: EventLoop.Process) {
        guard cutOff.remove(process) != nil, receivers[process] != nil else { return }
        deliver(.daemonsChanged, to: process)
    }
}
