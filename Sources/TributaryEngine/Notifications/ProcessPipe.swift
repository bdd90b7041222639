import Foundation
import FeedModel

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// write(2), whose name a method has here.
private let writeBytes: @Sendable (Int32, UnsafeRawPointer?, Int) -> Int = write

/// A non-blocking pipe to or from a program.
final class ProcessPipe: Sendable {
    private struct Ends {
        var read: Int32
        var write: Int32
        var isAtEnd = false
    }

    private let ends: Mutex<Ends>
    private static let making = NSLock()

    /// Runs a body while no pipe is being created, so that a started program inherits none.
    static func whileNoneIsMade<Value>(_ body: () throws -> Value) rethrows -> Value {
        try making.withLock(body)
    }

    init() throws {
        var descriptors: [Int32] = [-1, -1]
        try Self.whileNoneIsMade {
            guard pipe(&descriptors) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EMFILE) }
            for descriptor in descriptors { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        }
        ends = Mutex(Ends(read: descriptors[0], write: descriptors[1]))
    }

    deinit {
        closeReading()
        closeWriting()
    }

    /// -1 once closed; poll(2) ignores it.
    var readEnd: Int32 { ends.withLock(\.read) }
    var writeEnd: Int32 { ends.withLock(\.write) }
    var isAtEnd: Bool { ends.withLock(\.isAtEnd) }

    func closeReading() {
        ends.withLock { ends in
            if ends.read >= 0 { close(ends.read) }
            ends.read = -1
        }
    }

    func closeWriting() {
        ends.withLock { ends in
            if ends.write >= 0 { close(ends.write) }
            ends.write = -1
        }
    }

    /// Wakes the thread that polls the reading end.
    func ring() { _ = write(Data([1])) }

    func clear() { _ = readAvailable() }

    /// Reads the available bytes, up to 64 KiB.
    func readAvailable() -> Data {
        ends.withLock { ends in
            guard ends.read >= 0 else { return Data() }
            var descriptor = pollfd(fd: ends.read, events: Int16(POLLIN), revents: 0)
            guard poll(&descriptor, 1, 0) > 0 else { return Data() }
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            let count = read(ends.read, &buffer, buffer.count)
            if count == 0 { ends.isAtEnd = true }
            return Data(buffer.prefix(max(0, count)))
        }
    }

    /// Writes as many bytes as the pipe takes.
    ///
    /// - Returns: the number of bytes; nil if the reading end is closed.
    func write(_ data: Data) -> Int? {
        ends.withLock { ends in
            guard ends.write >= 0 else { return nil }
            var descriptor = pollfd(fd: ends.write, events: Int16(POLLOUT), revents: 0)
            guard poll(&descriptor, 1, 0) > 0 else { return 0 }
            guard descriptor.revents & Int16(POLLERR) == 0 else { return nil }
            // A pipe that is writable takes PIPE_BUF bytes at once.
            let part = data.prefix(4_096)
            let count = part.withUnsafeBytes { writeBytes(ends.write, $0.baseAddress, $0.count) }
            return count < 0 ? (errno == EAGAIN || errno == EINTR ? 0 : nil) : count
        }
    }
}
