import FeedModel
import Foundation

/// The files of a folder as a tar archive, which is generated while it is read. A file that has changed since the
/// listing ends it with an error.
struct FolderArchive: BlockingListing {
    private static let pieceSize = 256 << 10

    private let folder: FolderListing
    var files: [FolderListing.File]

    init(_ folder: FolderListing) {
        self.folder = folder
        files = folder.files
    }

    func read(
        _ file: FolderListing.File, _ check: () throws -> Void, _ consume: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        let descriptor = folder.descriptor(of: file)
        guard descriptor >= 0 else { throw failure(file, errno == ENOENT ? nil : errno) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try checkUnchanged(file, descriptor)
        var left = file.size
        while left > 0, let piece = try handle.read(upToCount: min(left, Self.pieceSize)), !piece.isEmpty {
            try check()
            left -= piece.count
            try piece.withUnsafeBytes(consume)
        }
        guard left == 0 else { throw failure(file) }
        try checkUnchanged(file, descriptor)
    }

    private func checkUnchanged(_ file: FolderListing.File, _ descriptor: Int32) throws {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure(file, errno) }
        guard file.isSame(as: status) else { throw failure(file) }
    }

    /// - Parameter reason: the system's error number; nil if the file has changed.
    private func failure(_ file: FolderListing.File, _ reason: Int32? = nil) -> FetchError {
        if let reason {
            return FetchError(.file, "the file '\(file.name)' cannot be read: \(String(cString: strerror(reason)))")
        }
        return FetchError(
            .truncated,
            "the file '\(file.name)' changed while the folder was read; write new files under a name that begins with a dot, "
                + "and rename them")
    }
}
