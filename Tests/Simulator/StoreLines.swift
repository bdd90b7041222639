import FeedModel

/// The way of one process to its store, on which questions and answers are lost now and then.
final class StoreLines: @unchecked Sendable {
    let loop: EventLoop
    let process: EventLoop.Process
    private let internet: Internet

    init(_ internet: Internet, _ process: EventLoop.Process) {
        loop = internet.loop
        self.process = process
        self.internet = internet
    }

    private var isCutOff: Bool { internet.isCutOff(process) }

    func checkThere(_ method: String) throws {
        guard isCutOff || internet.faults.fires(.storeAway, method, rarer: 5) else { return }
        loop.note("the store does not answer \(method)")
        throw StoreError(.unavailable, "the store does not answer")
    }

    func checkAnswer(_ method: String) throws {
        guard isCutOff || internet.faults.fires(.commitLost, method, rarer: 2) else { return }
        loop.note("the answer to \(method) is lost")
        throw StoreError(.database, "the connection was lost during COMMIT, and nobody knows whether it was done")
    }

    func writing<Value>(_ method: String, _ body: () throws -> Value) throws -> Value {
        try checkThere(method)
        let value = try body()
        try checkAnswer(method)
        return value
    }

    /// Returns the seconds that a store takes before it does what it was asked to do; nil for none.
    func delay(_ method: String) -> Int? {
        let faults = internet.faults
        return faults.fires(.storeSlow, method) ? faults.number(in: 1...40, "slow:" + method) : nil
    }
}
