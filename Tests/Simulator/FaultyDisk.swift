import CJobHook
import FeedModel
import TestSupport

/// The disk of all simulated processes. Its writes fail now and then, and its power fails.
final class FaultyDisk {
    nonisolated(unsafe) private static var current: FaultyDisk?

    private let internet: Internet
    private let seed: UInt64
    private var files: DurableFiles?
    private var changesUntilFailure: Int?
    /// The failures of power and of syncs.
    private var failures = 0
    /// What the last power failure has left, until another folder is watched.
    private(set) var left: DurableFiles.Left?

    init(_ internet: Internet, seed: UInt64) {
        self.internet = internet
        self.seed = seed
    }

    /// Takes the files of all databases that are opened from now on, until ``leave()``.
    func enter() {
        Self.current = self
        let code = tributary_take_disk { FaultyDisk.current?.take($0.pointee) ?? 0 }
        precondition(code == 0, "SQLite's files cannot be taken over: \(code)")
        // The time of the store, as that of a server is nobody else's.
        tributary_take_clock { FaultyDisk.current.map { SimulatedClock.milliseconds($0.internet.loop) } ?? -1 }
    }

    func leave() { Self.current = nil }

    /// Makes this the folder that a power failure concerns. No file in it is open.
    func watch(_ folder: String) {
        files = DurableFiles(in: folder)
        (left, changesUntilFailure) = (nil, nil)
    }

    /// Has the power fail during a change of the files: a write, a cut, a sync or a deletion.
    ///
    /// - Parameter changes: the number of changes that are made before; nil for no power failure.
    func failPower(after changes: Int?) { changesUntilFailure = changes }

    /// - Returns: what becomes of a call.
    private func take(_ call: tributary_disk_call) -> Int32 {
        let operation = Int(call.operation)
        // The simulator's own connections only read. What happens after a power failure does not happen.
        guard ![TRIBUTARY_DISK_READS, TRIBUTARY_DISK_SHARES].contains(operation), internet.loop.process != 0,
            left == nil
        else { return 0 }
        let fate = fate(of: call)
        let isWrite = [TRIBUTARY_DISK_WRITES, TRIBUTARY_DISK_CUTS].contains(operation)
        let path = String(cString: call.path)
        guard let files, files.has(path) else { return fate }
        guard fate == TRIBUTARY_DISK_DOES || isWrite && fate == TRIBUTARY_DISK_LIES else {
            if !isWrite {
                failures += 1
                var random = random()
                files.failSync(of: path, &random)
            }
            return fate
        }
        guard operation != TRIBUTARY_DISK_OPENS, let count = changesUntilFailure else {
            files.take(call)
            return fate
        }
        changesUntilFailure = count - 1
        // Half of a write may be on the disk. What a sync promises holds only when it returns.
        if count > 0 || isWrite { files.take(call) }
        if count <= 0 { fail(files) }
        return fate
    }

    private func fail(_ files: DurableFiles) {
        failures += 1
        var random = random()
        let left = files.afterPowerFailure(&random)
        internet.faults.count(.power)
        internet.loop.note("the power fails: of \(left.unsynced) writes that were not synced, \(left.kept) are there")
        self.left = left
    }

    private func random() -> SplitMix64 { SplitMix64(seed: seed ^ Fingerprint.hash("disk#\(failures)")) }

    private func fate(of call: tributary_disk_call) -> Int32 {
        let writes = [TRIBUTARY_DISK_WRITES, TRIBUTARY_DISK_SYNCS, TRIBUTARY_DISK_SYNCS_FOLDER]
        guard writes.contains(Int(call.operation)), internet.faults.fires(.disk, "write", rarer: 40) else { return 0 }
        let fate = internet.faults.number(in: 1...3, "disk")
        internet.loop.note("the disk \(["is full", "fails", "lies"][fate - 1])")
        return Int32(fate)
    }
}
