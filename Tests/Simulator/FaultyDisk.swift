import CJobHook

/// The disk of all simulated processes, whose writes fail now and then.
enum FaultyDisk {
    nonisolated(unsafe) private static var current: Internet?

    /// Takes the writes of all databases that are opened from now on, until ``leave()``.
    static func enter(_ internet: Internet) {
        current = internet
        let code = tributary_take_writes { FaultyDisk.current?.becomesOfWrite ?? 0 }
        precondition(code == 0, "SQLite's files cannot be taken over: \(code)")
    }

    static func leave() { current = nil }
}

extension Internet {
    fileprivate var becomesOfWrite: Int32 {
        // The simulator's own connections only read.
        guard loop.process != 0, faults.fires(.disk, "write", rarer: 40) else { return 0 }
        let fate = faults.number(in: 1...3, "disk")
        loop.note("the disk \(["is full", "fails", "lies"][fate - 1])")
        return Int32(fate)
    }
}
