package import Foundation

/// A file that can be read to its end. Folders, FIFOs, sockets and devices are refused: they might block, or never end.
package struct RegularFile {
    package enum Problem: Error, Equatable, CustomStringConvertible {
        case missing, unreadable, irregular, folder

        /// A text that follows the file's name in a message.
        package var description: String {
            switch self {
            case .missing: "does not exist"
            case .unreadable: "cannot be read"
            case .irregular: "is not a regular file"
            case .folder: "is not a regular file but a folder"
            }
        }
    }

    package let handle: FileHandle
    package let status: stat

    /// Opens a file without waiting for anything.
    ///
    /// - Throws: ``Problem``.
    package init(opening path: String) throws(Problem) {
        // The file is checked before it is opened, as opening alone affects some devices. It is checked again after
        // that, in case it was replaced in between. A FIFO is opened without waiting for a writer.
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

    /// Checks a file that others will open.
    ///
    /// - Throws: ``Problem``.
    package static func check(_ path: String) throws(Problem) {
        var status = stat()
        guard stat(path, &status) == 0 else { throw problem() }
        guard isRegular(status) else { throw status.st_mode & S_IFMT == S_IFDIR ? .folder : .irregular }
    }

    /// Returns true for a file that can be read to its end.
    package static func isRegular(_ status: stat) -> Bool {
        status.st_mode & S_IFMT == S_IFREG && !kernelFolders.contains(status.st_dev)
    }

    /// The kernel's own file systems. Some of their files claim to be regular, but have no end or make the reader wait.
    private static let kernelFolders = Set(
        ["/proc", "/sys", "/sys/kernel/debug", "/sys/kernel/tracing"].compactMap { path -> dev_t? in
            var folder = stat()
            var root = stat()
            guard stat(path, &folder) == 0, stat("/", &root) == 0 else { return nil }
            return folder.st_dev == root.st_dev ? nil : folder.st_dev
        })

    private static func problem() -> Problem { [ENOENT, ENOTDIR].contains(errno) ? .missing : .unreadable }
}
