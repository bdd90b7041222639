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

    /// Takes note of whether the last run of a source is in the store.
    func note(_ source: String, isRecorded: Bool) { internet.note(process, source, isRecorded: isRecorded) }

    /// Takes note that the store forgets a source.
    func notePurge(of source: String) { internet.purge(source) }

    private var isCutOff: Bool { internet.isCutOff(process) }

    func checkThere(_ method: String, rarer factor: Int = 1) throws {
        guard isCutOff || internet.faults.fires(.storeAway, method, rarer: 5 * factor) else { return }
        loop.note("the store does not answer \(method)")
        throw StoreError(.unavailable, "the store does not answer")
    }

    func checkAnswer(_ method: String, rarer factor: Int = 1) throws {
        guard isCutOff || internet.faults.fires(.commitLost, method, rarer: 2 * factor) else { return }
        loop.note("the answer to \(method) is lost")
        throw StoreError(.database, "the connection was lost during COMMIT, and nobody knows whether it was done")
    }

    /// - Parameter factor: makes faults rarer for what is asked often.
    func writing<Value>(_ method: String, rarer factor: Int = 1, _ body: () throws -> Value) throws -> Value {
        try checkThere(method, rarer: factor)
        let value = try body()
        try checkAnswer(method, rarer: factor)
        return value
    }

    /// Returns the seconds that a store takes before it does what it was asked to do; nil for none.
    func delay(_ method: String) -> Int? {
        let faults = internet.faults
        return faults.fires(.storeSlow, method) ? faults.number(in: 1...40, "slow:" + method) : nil
    }
}
