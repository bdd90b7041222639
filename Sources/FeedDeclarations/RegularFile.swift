package import Foundation

/// A file that can be read to its end: not a folder, a FIFO, a socket or a device, which might hang, or never end.
package struct RegularFile {
    package enum Problem: Error, Equatable, CustomStringConvertible {
        case missing, unreadable, irregular

        /// Made to stand after the file's name.
        package var description: String {
            switch self {
            case .missing: "does not exist"
            case .unreadable: "cannot be read"
            case .irregular: "is not a regular file"
            }
        }
    }

    package let handle: FileHandle
    package let status: stat

    /// Opens a file, without waiting for anything.
    ///
    /// - Throws: ``Problem``.
    package init(opening path: String) throws(Problem) {
        // Looked at before it is opened, as opening alone does something to some devices; and again after, in case it has
        // become another file in between. A FIFO is opened without waiting for who writes.
        try Self.check(path)
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { throw Self.problem() }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Self.problem() }
        guard Self.isRegular(status) else { throw .irregular }
        self.handle = handle
        self.status = status
    }

    /// Looks at a file that others will open.
    ///
    /// - Throws: ``Problem``.
    package static func check(_ path: String) throws(Problem) {
        var status = stat()
        guard stat(path, &status) == 0 else { throw problem() }
        guard isRegular(status) else { throw .irregular }
    }

    private static func isRegular(_ status: stat) -> Bool {
        status.st_mode & S_IFMT == S_IFREG && !kernelFolders.contains(status.st_dev)
    }

    /// Where the kernel shows itself, in files that call themselves regular and have no end, or make the reader wait.
    private static let kernelFolders = Set(
        ["/proc", "/sys", "/sys/kernel/debug", "/sys/kernel/tracing"].compactMap { path -> dev_t? in
            var folder = stat()
            var root = stat()
            guard stat(path, &folder) == 0, stat("/", &root) == 0 else { return nil }
            return folder.st_dev == root.st_dev ? nil : folder.st_dev
        })

    private static func problem() -> Problem { [ENOENT, ENOTDIR].contains(errno) ? .missing : .unreadable }
}
