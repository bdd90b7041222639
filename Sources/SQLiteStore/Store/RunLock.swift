import FeedModel
import FeedStores
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The right to run a source, held by one run in one process at a time.
///
/// A lock on one byte of `STORE-lock`, chosen by the fingerprint of the source's name. It is an open file description lock
/// (fcntl_locking(2)). So it also excludes other runs in this process, and the kernel releases it when its holder dies.
final class RunLock: SourceClaim {
    private let descriptor: Int32
    private let position: off_t

    /// - Returns: nil while another run holds the lock.
    /// - Throws: ``StoreError`` if the lock file cannot be used.
    convenience init?(store: SQLiteStore, source: String) throws {
        try self.init(storePath: store.path, fingerprint: Fingerprint.hash(source))
    }

    /// Takes the right to run the source with a fingerprint.
    ///
    /// - Returns: nil while another run holds the lock.
    convenience init?(storePath: String, fingerprint: UInt64) throws {
        try self.init(storePath: storePath, fingerprint, waits: false)
    }

    /// Takes the right to change the schema of a store. Blocks until another process has released it.
    ///
    /// - Returns: never nil.
    convenience init?(schemaOf storePath: String) throws {
        // No source can have this name.
        try self.init(storePath: storePath, Fingerprint.hash("\u{0}schema"), waits: true)
    }

    /// - Returns: nil while another process delivers the hook's events.
    convenience init?(hook name: String, storePath: String) throws {
        // No source can have this name.
        try self.init(storePath: storePath, Fingerprint.hash("\u{0}hook " + name), waits: false)
    }

    /// Returns those of the sources whose runs hold their locks. Takes two system calls for each lock that is held.
    static func held(among sources: [String], storePath: String) throws -> Set<String> {
        let path = storePath + "-lock"
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0, errno == ENOENT { return [] }
        defer { if descriptor >= 0 { close(descriptor) } }
        var held: Set<off_t> = []
        // The kernel names one lock of a range, and not always the first.
        var ranges: [Range<off_t>] = [0..<off_t.max]
        while let range = ranges.popLast() {
            var lock = Self.lock(F_WRLCK, at: range.lowerBound, count: off_t(range.count))
            guard descriptor >= 0, fcntl(descriptor, findLock, &lock) == 0 else {
                throw StoreError(
                    .unavailable, "the lock file \(path) cannot be read: \(String(cString: strerror(errno)))")
            }
            guard lock.l_type != Int16(F_UNLCK), range.contains(lock.l_start) else { continue }
            held.insert(lock.l_start)
            ranges += [range.lowerBound..<lock.l_start, lock.l_start + 1..<range.upperBound].filter { !$0.isEmpty }
        }
        return held.isEmpty ? [] : Set(sources.filter { held.contains(position(of: Fingerprint.hash($0))) })
    }

    private init?(storePath: String, _ fingerprint: UInt64, waits: Bool) throws {
        position = Self.position(of: fingerprint)
        let path = storePath + "-lock"
        descriptor = StoreMode.open(path, besideStore: storePath)
        guard descriptor >= 0 else {
            throw StoreError(
                .unavailable, "the lock file \(path) cannot be opened: \(String(cString: strerror(errno)))")
        }
        guard set(F_WRLCK, waits ? Self.waitForLock : Self.setLock) == 0 else {
            let code = errno
            close(descriptor)
            if code == EAGAIN || code == EACCES { return nil }
            throw StoreError(.unavailable, "the lock file \(path) cannot be locked: \(String(cString: strerror(code)))")
        }
    }

    /// Does nothing: the kernel never revokes a lock.
    package func check() {}

    package func unlock() {
        // Closed alone, the lock would last: a process that is being started has the descriptor, too, until it runs its
        // program.
        _ = set(F_UNLCK, Self.setLock)
        close(descriptor)
    }

    private func set(_ type: Int32, _ command: Int32) -> Int32 {
        var lock = Self.lock(type, at: position)
        while true {
            let result = fcntl(descriptor, command, &lock)
            // A signal has ended the wait.
            if result == -1, errno == EINTR { continue }
            return result
        }
    }

    private static func position(of fingerprint: UInt64) -> off_t {
        // The top two bits are zero, as file offsets are signed.
        off_t(truncatingIfNeeded: fingerprint >> 2)
    }

    private static func lock(_ type: Int32, at position: off_t, count: off_t = 1) -> flock {
        var lock = flock()
        lock.l_type = Int16(type)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = position
        lock.l_len = count
        return lock
    }

    // F_OFD_GETLK, F_OFD_SETLK and F_OFD_SETLKW: glibc declares them only under `_GNU_SOURCE`, which Swift's overlay
    // does not set.
    #if os(Linux)
        private static let findLock: Int32 = 36
        private static let setLock: Int32 = 37
        private static let waitForLock: Int32 = 38
    #else
        private static let findLock: Int32 = 92
        private static let setLock: Int32 = 90
        private static let waitForLock: Int32 = 91
    #endif
}
