import FeedModel
import Foundation
import GRDB

#if canImport(Glibc)
    import Glibc
#endif

/// Checks whether a store can be written, without writing to it.
///
/// It takes the write lock on a connection of its own, releases it, and writes some bytes beside the store to a file
/// without a name. That fails on a disk that is full or read-only.
final class StoreProbe: Sendable {
    private struct State {
        var queue: DatabaseQueue?
        /// Since when the store has been locked, and its version then: it changes with each commit (pragma.html,
        /// data_version).
        var locked: (since: ContinuousClock.Instant, version: Int)?
        var isClosed = false
    }

    /// How long the store may be locked by one transaction. The largest commits take minutes.
    private static let longestCommit = Duration.seconds(600)
    /// Between two small commits the lock is free within this time.
    private static let timeout = 0.25
    private static let bytes = 64 << 10

    private let path: String
    private let longestCommit: Duration
    private let state = Mutex(State())

    init(_ path: String, longestCommit: Duration = longestCommit) {
        self.path = path
        self.longestCommit = longestCommit
    }

    /// - Throws: ``StoreError`` with the reason why nothing can be written. A store that is locked for the time of a commit
    ///   can be.
    func check() throws {
        try writeBesideStore()
        try state.withLock { state in
            guard !state.isClosed else { return }
            do {
                let queue = try state.queue ?? makeQueue()
                state.queue = queue
                try queue.writeWithoutTransaction { db in
                    do {
                        try db.beginTransaction(.immediate)
                    } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
                        try noteLock(db, &state)
                        return
                    }
                    try db.rollback()
                    state.locked = nil
                }
            } catch let error as DatabaseError {
                // What is open may be what is wrong.
                try? state.queue?.close()
                state.queue = nil
                throw StoreError(commit: error, path: path)
            }
        }
    }

    /// - Parameter leavingLog: true if the store's files are not those that were opened.
    func close(leavingLog: Bool = false) throws {
        let queue = state.withLock { state in
            state.isClosed = true
            defer { state.queue = nil }
            return state.queue
        }
        if leavingLog { queue?.inDatabase { $0.leaveLog() } }
        try queue?.close()
    }

    private func makeQueue() throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "probe"
        configuration.busyMode = .timeout(Self.timeout)
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    private func noteLock(_ db: Database, _ state: inout State) throws {
        let version = try Int.fetchOne(db, sql: "PRAGMA data_version") ?? 0
        let now = ContinuousClock.now
        guard let locked = state.locked, locked.version == version else {
            state.locked = (now, version)
            return
        }
        guard now - locked.since >= longestCommit else { return }
        throw StoreError(
            .database,
            "the store \(path) cannot be written: it has been locked for \((now - locked.since).components.seconds) seconds, "
                + "in which nothing was committed; end the program that has a transaction open on it")
    }

    /// Writes some bytes where the store's log and scratch files are written. Nothing of them is left.
    private func writeBesideStore() throws {
        var name = Array((path + "-probe-XXXXXX").utf8CString)
        let file = mkstemp(&name)
        guard file >= 0 else { throw refused() }
        defer { closeFile(file) }
        unlink(name)
        let bytes = [UInt8](repeating: 0x54, count: Self.bytes)
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw refused() }
            written += count
        }
    }

    private func refused() -> StoreError {
        let why = String(cString: strerror(errno))
        let advice =
            switch errno {
            case ENOSPC, EDQUOT: "make room on its disk"
            case EROFS: "its file system is read-only; see the kernel's log"
            case EACCES, EPERM: "let this user write to its folder"
            default: "check its disk"
            }
        return StoreError(.database, "the store \(path) cannot be written: \(why); \(advice)")
    }
}

/// close(2), which the probe's own function hides.
private func closeFile(_ descriptor: Int32) { close(descriptor) }
