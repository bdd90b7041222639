import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// write(2), whose name a method has here.
private let writeBytes: @Sendable (Int32, UnsafeRawPointer?, Int) -> Int = write

/// Standard output for many lines: written in large pieces, and known to have a reader.
final class TailOutput {
    /// Nobody reads the output any more.
    struct Unread: Error {}

    private static let pieceSize = 64 << 10
    private var bytes: [UInt8] = []

    init() {
        // Writing tells that nobody reads.
        signal(SIGPIPE, SIG_IGN)
    }

    /// - Throws: ``Unread``, or the error of the system.
    func write(_ line: String) throws {
        bytes += line.utf8
        bytes.append(UInt8(ascii: "\n"))
        if bytes.count >= Self.pieceSize { try flush() }
    }

    /// - Throws: ``Unread``, or the error of the system.
    func flush() throws {
        var written = 0
        defer { bytes.removeFirst(written) }
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { writeBytes(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count >= 0 {
                written += count
            } else if errno == EPIPE {
                throw Unread()
            } else if errno != EINTR {
                throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
            }
        }
    }

    /// - Throws: ``Unread`` where nobody reads any more, without writing anything.
    func check() throws {
        var descriptor = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
        guard poll(&descriptor, 1, 0) > 0 else { return }
        if Int32(descriptor.revents) & (POLLERR | POLLHUP | POLLNVAL) != 0 { throw Unread() }
    }
}
