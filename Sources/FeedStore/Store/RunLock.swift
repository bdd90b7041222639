import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The right to run a source, held by one run in one process at a time.
///
/// A lock on one byte of `STORE-lock`, chosen by the source's name. It is an open file description lock (fcntl_locking(2)),
/// so it excludes other runs in this process, too, and the kernel gives it up when its holder dies.
package final class RunLock: Sendable {
    private let descriptor: Int32

    /// - Returns: nil while another run holds the lock.
    /// - Throws: ``StoreError`` where the lock file cannot be used.
    package init?(store: MainStore, source: String) throws {
        let path = store.path + "-lock"
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw StoreError(
                .unavailable, "the lock file \(path) cannot be opened: \(String(cString: strerror(errno)))")
        }
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = off_t(truncatingIfNeeded: Self.position(of: source))
        lock.l_len = 1
        guard fcntl(descriptor, Self.setOpenFileDescriptionLock, &lock) == 0 else {
            let code = errno
            close(descriptor)
            if code == EAGAIN || code == EACCES { return nil }
            throw StoreError(.unavailable, "the lock file \(path) cannot be locked: \(String(cString: strerror(code)))")
        }
    }

    package func unlock() { close(descriptor) }

    /// F_OFD_SETLK: glibc declares it only under `_GNU_SOURCE`, which Swift's overlay does not set.
    #if os(Linux)
        private static let setOpenFileDescriptionLock: Int32 = 37
    #else
        private static let setOpenFileDescriptionLock: Int32 = 90
    #endif

    /// 64-bit FNV-1a, which is the same in every process, without its top two bits: file offsets are signed.
    private static func position(of source: String) -> UInt64 {
        source.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 } >> 2
    }
}
