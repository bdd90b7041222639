import CJobHook
import Synchronization

/// Makes one call fail that SQLite makes to the files of a folder.
final class DiskFault: Sendable {
    private struct Counting {
        /// The calls since it was armed.
        var calls = 0
        /// The number of the call that fails; 0 for none.
        var number = 0
        /// The call that has failed.
        var failed: String?
    }

    private static let armed = Mutex<[String: DiskFault]>([:])
    private static let isAnyArmed = Atomic(0)
    private static let isInstalled: Bool = tributary_take_disk { DiskFault.fate(of: $0.pointee) } == 0

    private static let names = [
        TRIBUTARY_DISK_OPENS: "open", TRIBUTARY_DISK_READS: "read", TRIBUTARY_DISK_WRITES: "write",
        TRIBUTARY_DISK_CUTS: "truncate", TRIBUTARY_DISK_SYNCS: "sync", TRIBUTARY_DISK_SYNCS_FOLDER: "sync",
        TRIBUTARY_DISK_DELETES: "delete", TRIBUTARY_DISK_DELETES_FOR_GOOD: "delete", TRIBUTARY_DISK_SHARES: "share",
    ]

    private let folder: String
    /// The calls that count.
    private let counts: @Sendable (_ name: String, _ path: Substring) -> Bool
    private let counting = Mutex(Counting())

    /// - Parameters:
    ///   - folder: only databases count that are opened while there is such an object.
    ///   - counts: returns true for the calls that count, by their names and paths in the folder.
    init(in folder: String, where counts: @escaping @Sendable (_ name: String, _ path: Substring) -> Bool) {
        precondition(Self.isInstalled, "SQLite's files cannot be taken over")
        self.folder = folder
        self.counts = counts
    }

    /// Has the nth call from now on fail.
    func fail(_ number: Int) {
        counting.withLock { $0 = Counting(number: number) }
        Self.armed.withLock { $0[folder] = self }
        Self.isAnyArmed.add(1, ordering: .relaxed)
    }

    /// Has no further call fail.
    ///
    /// - Returns: the call that has failed; nil where there were not so many.
    func end() -> String? {
        Self.isAnyArmed.subtract(1, ordering: .relaxed)
        Self.armed.withLock { $0[folder] = nil }
        return counting.withLock(\.failed)
    }

    private static func fate(of call: tributary_disk_call) -> Int32 {
        guard isAnyArmed.load(ordering: .relaxed) > 0 else { return Int32(TRIBUTARY_DISK_DOES) }
        let path = String(cString: call.path)
        guard let fault = armed.withLock({ $0.first { path.hasPrefix($0.key + "/") }?.value }),
            fault.fails(Self.names[Int(call.operation)] ?? "", path.dropFirst(fault.folder.count + 1))
        else { return Int32(TRIBUTARY_DISK_DOES) }
        return Int32(TRIBUTARY_DISK_FAILS)
    }

    private func fails(_ name: String, _ path: Substring) -> Bool {
        guard counts(name, path) else { return false }
        return counting.withLock { counting in
            counting.calls += 1
            guard counting.calls == counting.number else { return false }
            counting.failed = "\(name) \(path), call \(counting.calls)"
            return true
        }
    }
}
