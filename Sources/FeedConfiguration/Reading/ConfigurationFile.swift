import FeedModel
import Foundation

/// Reads the configuration's file, or a file that it names, up to the limit. It does not wait for a pipe to which
/// nobody writes. A file that the configuration names must be a regular one.
enum ConfigurationFile {
    /// The most bytes of a file.
    static let limit = 16 << 20

    /// - Parameter timeLimit: the time for which a pipe may be silent, in milliseconds.
    static func read(_ path: String, timeLimit: Int32 = 5_000) throws(Finding) -> [UInt8] {
        // Without `O_NONBLOCK`, opening a pipe waits for its writer.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw failure(errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure(errno) }
        switch status.st_mode & S_IFMT {
        case S_IFREG, S_IFIFO: break
        case S_IFDIR: throw Finding("is a folder")
        default: throw Finding("is neither a regular file nor a pipe")
        }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count <= limit, status.st_size <= limit {
            let count = Foundation.read(descriptor, &piece, piece.count)
            if count == 0 { return bytes }
            if count > 0 {
                bytes += piece[..<count]
            } else if errno == EAGAIN {
                try wait(for: descriptor, timeLimit)
            } else if errno != EINTR {
                throw failure(errno)
            }
        }
        throw Finding("is larger than \(ByteSize.text(limit)), the limit")
    }

    /// Returns the bytes of a file that the configuration names.
    ///
    /// - Throws: ``Finding`` with the file's name.
    static func read(named path: String) throws(Finding) -> [UInt8] {
        do {
            try RegularFile.check(path)
            return try read(path)
        } catch {
            throw Finding("the file \(path) \(error)")
        }
    }

    /// Returns the text of a file that the configuration names.
    ///
    /// - Throws: ``Finding`` with the file's name.
    static func text(named path: String) throws(Finding) -> String {
        guard let text = String(validating: try read(named: path), as: UTF8.self) else {
            throw Finding("the file \(path) is not UTF-8 text")
        }
        return text
    }

    private static func wait(for descriptor: Int32, _ timeLimit: Int32) throws(Finding) {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, timeLimit) != 0 else {
            throw Finding("is a pipe to which nothing was written for \(timeLimit) ms")
        }
    }

    private static func failure(_ code: Int32) -> Finding {
        if code == ENOENT { return Finding("does not exist") }
        return Finding("cannot be read: \(String(cString: strerror(code)))")
    }
}
