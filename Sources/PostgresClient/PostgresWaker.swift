import Foundation
import Locking

/// A pipe to oneself, by which another thread ends a wait on a socket.
final class PostgresWaker: Sendable {
    /// Readable once somebody has woken the waiter.
    let readEnd: Int32
    private let writeEnd: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw PostgresError(.connecting, "no pipe can be made: \(String(cString: strerror(errno)))")
        }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (readEnd, writeEnd) = (ends[0], ends[1])
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    func wake() {
        var byte: UInt8 = 0
        // A full pipe has woken the waiter already.
        _ = write(writeEnd, &byte, 1)
    }

    /// Forgets all that has been woken so far.
    func clear() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(readEnd, &bytes, bytes.count) > 0 {}
    }
}
