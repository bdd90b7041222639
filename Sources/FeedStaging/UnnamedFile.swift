package import Foundation

/// A file for what memory should not hold. It has no name, and so is removed when it is closed, or when the process ends.
package enum UnnamedFile {
    /// Creates a file that only its user can read.
    ///
    /// - Parameter folder: the folder on whose disk it lies; created if it is missing.
    package static func make(in folder: String) throws -> FileHandle {
        try ScratchDatabase.makeFolder(at: folder)
        var path = Array((folder + "/body-XXXXXX").utf8CString)
        let descriptor = mkstemp(&path)
        guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        unlink(path)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }
}
