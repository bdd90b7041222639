/// A machine on which a daemon runs, one process after another.
final class Node {
    let number: Int
    /// nil where no daemon runs at the moment.
    var daemon: Daemon?
    /// All daemons that ever ran. Nothing of them is freed, as what waits for them would go on then.
    var past: [Daemon] = []
    /// The seconds by which its clock is wrong.
    var clockError: Double
    /// The sources that its file switches off.
    var disabled: Set<String> = []
    /// Other minutes of `cache` in its file, by source.
    var caches: [String: Int] = [:]
    /// True once the daemon is to stop.
    var isStopping = false
    /// What is done to the daemon after so many pieces of work.
    private var blow: (pieces: Int, action: () throws -> Void)?

    init(_ number: Int, clockError: Double) {
        self.number = number
        self.clockError = clockError
    }

    /// The daemon, unless it is stopping.
    var living: Daemon? { isStopping ? nil : daemon }

    /// Has something done to the daemon at any piece of work of a time in which there is some.
    func strike(after pieces: Int, _ action: @escaping () throws -> Void) {
        if blow == nil { blow = (pieces, action) }
    }

    func forgetBlow() { blow = nil }

    /// Counts pieces of work.
    func count(_ pieces: Int) throws {
        guard let blow else { return }
        self.blow = (blow.pieces - pieces, blow.action)
        guard blow.pieces <= 0 else { return }
        self.blow = nil
        try blow.action()
    }
}
