import Foundation

/// Standard output for many lines: written in large pieces, and known to have a reader.
final class TailOutput {
    private static let pieceSize = 64 << 10
    private var bytes: [UInt8] = []

    /// - Throws: ``OutputError``.
    func write(_ line: String) throws {
        bytes += line.utf8
        bytes.append(UInt8(ascii: "\n"))
        if bytes.count >= Self.pieceSize { try flush() }
    }

    /// - Throws: ``OutputError``.
    func flush() throws {
        try Terminal.write(bytes)
        bytes.removeAll(keepingCapacity: true)
    }

    /// - Throws: ``OutputError/unread`` where nobody reads any more, without writing anything.
    func check() throws {
        var descriptor = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
        guard poll(&descriptor, 1, 0) > 0 else { return }
        if Int32(descriptor.revents) & (POLLERR | POLLHUP | POLLNVAL) != 0 { throw OutputError.unread }
    }
}
