import CArchive
import FeedModel
import Foundation

/// Passes an archive's file to libarchive in pieces, until the unpacked size exceeds a limit.
final class ArchiveInput {
    private static let pieceSize = 32 << 10

    private let file: FileHandle
    private let buffer = UnsafeMutableRawPointer.allocate(byteCount: pieceSize, alignment: 16)
    private let size: Int
    private let limit: Int
    private var offset = 0
    /// The error that stopped reading, if the archive is not its cause.
    private(set) var failure: (any Error)?

    init(_ file: FileHandle, size: Int, limit: Int) {
        self.file = file
        self.size = size
        self.limit = limit
    }

    deinit { buffer.deallocate() }

    /// Opens an archive for reading. It must be closed before this object is released.
    ///
    /// - Returns: libarchive's status.
    func open(_ archive: OpaquePointer) -> Int32 {
        archive_read_set_read_callback(archive) { archive, context, piece in
            guard let archive, let context, let piece else { return -1 }
            return Unmanaged<ArchiveInput>.fromOpaque(context).takeUnretainedValue().read(archive, &piece.pointee)
        }
        archive_read_set_seek_callback(archive) { _, context, offset, origin in
            guard let context else { return Int64(ARCHIVE_FATAL) }
            return Unmanaged<ArchiveInput>.fromOpaque(context).takeUnretainedValue().seek(offset, origin)
        }
        archive_read_set_callback_data(archive, Unmanaged.passUnretained(self).toOpaque())
        return archive_read_open1(archive)
    }

    private func read(_ archive: OpaquePointer, _ piece: inout UnsafeRawPointer?) -> Int {
        do {
            try Task.checkCancellation()
            // A small piece may unpack to a large one, even if no member of it matches.
            guard archive_filter_bytes(archive, 0) <= Int64(limit) else { throw ArchiveReader.tooLarge(limit) }
            let count = pread(file.fileDescriptor, buffer, Self.pieceSize, off_t(offset))
            guard count >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
            offset += count
            piece = UnsafeRawPointer(buffer)
            return count
        } catch {
            failure = error
            return -1
        }
    }

    private func seek(_ distance: Int64, _ origin: Int32) -> Int64 {
        let base = origin == SEEK_SET ? 0 : origin == SEEK_CUR ? offset : size
        let (target, overflows) = base.addingReportingOverflow(Int(distance))
        guard !overflows, target >= 0 else { return Int64(ARCHIVE_FATAL) }
        offset = min(target, size)
        return Int64(offset)
    }
}
