import CArchive
import FeedModel

/// Unpacks a member of an archive that is itself a file compressed by bzip2, xz or Zstandard, and holds one document.
final class CompressedFile {
    /// The number of bytes that identify such a file.
    static let markLength = 6

    static func isCompressed(_ start: [UInt8]) -> Bool {
        guard start.count >= markLength else { return false }
        // A text may begin with BZh1. Then a block of bzip2 or the end of its file follows.
        let isBzip2 = start.starts(with: "BZh".utf8) && [[0x31, 0x41], [0x17, 0x72]].contains(Array(start[4..<6]))
        return isBzip2 || start.starts(with: [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00])
            || start.starts(with: [0x28, 0xB5, 0x2F, 0xFD])
    }

    private let archive: OpaquePointer
    private let start: UnsafeMutableRawBufferPointer
    private let rest: () throws -> UnsafeRawBufferPointer?
    private var hasBegun = false
    /// The bytes that libarchive has been given.
    private var size = 0
    /// The error that ended the pieces before the end of the file.
    private var failure: (any Error)?

    /// - Parameters:
    ///   - start: the file's first bytes.
    ///   - rest: returns the next bytes, which are valid until the next call; nil at the end.
    init(_ start: [UInt8], rest: @escaping () throws -> UnsafeRawBufferPointer?) throws {
        guard let archive = archive_read_new() else { throw FetchError(.decoding, "not enough memory to unpack it") }
        self.archive = archive
        self.start = .allocate(byteCount: start.count, alignment: 16)
        self.start.copyBytes(from: start)
        self.rest = rest
        Self.supportFilters(archive)
        archive_read_support_format_raw(archive)
    }

    deinit {
        archive_read_free(archive)
        start.deallocate()
    }

    /// Enables compressions by name. "all" would run programs of the system.
    static func supportFilters(_ archive: OpaquePointer) {
        archive_read_support_filter_gzip(archive)
        archive_read_support_filter_bzip2(archive)
        archive_read_support_filter_xz(archive)
        archive_read_support_filter_lzma(archive)
        archive_read_support_filter_zstd(archive)
    }

    /// Passes the unpacked bytes to `consume`, in pieces.
    ///
    /// - Throws: ``FetchError``; the errors of `consume`.
    func forEachPiece(_ consume: (UnsafeRawBufferPointer) throws -> Void) throws {
        archive_read_set_read_callback(archive) { _, context, piece in
            guard let context, let piece else { return -1 }
            return Unmanaged<CompressedFile>.fromOpaque(context).takeUnretainedValue().read(&piece.pointee)
        }
        archive_read_set_callback_data(archive, Unmanaged.passUnretained(self).toOpaque())
        guard archive_read_open1(archive) == ARCHIVE_OK else { throw problem }
        // The file itself counts as one filter.
        guard archive_filter_count(archive) <= 2 else { throw FetchError(.decoding, "it is compressed more than once") }
        var entry: OpaquePointer?
        guard archive_read_next_header(archive, &entry) == ARCHIVE_OK else { throw problem }
        while true {
            let (status, piece, _) = archive.nextBlock()
            switch status {
            case ARCHIVE_OK: try consume(piece)
            case ARCHIVE_EOF:
                if let failure { throw failure }
                while let piece = try rest() { size += piece.count }
                return try Self.checkEnd(archive, size: size)
            default: throw problem
            }
        }
    }

    /// Checks that the last stream of bzip2 ends with the file. libarchive takes a damaged or cut header of a further stream
    /// for the end.
    ///
    /// - Throws: ``FetchError``
    static func checkEnd(_ archive: OpaquePointer, size: Int) throws {
        guard archive_filter_code(archive, 0) == ARCHIVE_FILTER_BZIP2 else { return }
        let read = Int(archive_filter_bytes(archive, -1))
        guard read < size else { return }
        throw FetchError(
            .truncated,
            "the file of bzip2 is cut off or damaged: its last whole stream ends after \(read) of \(size) bytes")
    }

    private func read(_ piece: inout UnsafeRawPointer?) -> Int {
        do {
            try Task.checkCancellation()
            guard hasBegun else {
                hasBegun = true
                piece = UnsafeRawPointer(start.baseAddress)
                size = start.count
                return start.count
            }
            guard let bytes = try rest() else { return 0 }
            piece = bytes.baseAddress
            size += bytes.count
            return bytes.count
        } catch {
            failure = error
            return -1
        }
    }

    /// The error with libarchive's message.
    private var problem: any Error { failure ?? archive.failure("it cannot be unpacked") }
}

/// An archive of libarchive.
extension OpaquePointer {
    /// Returns libarchive's status, and the next bytes of the current member with their offset.
    func nextBlock() -> (status: Int32, bytes: UnsafeRawBufferPointer, offset: Int64) {
        var bytes: UnsafeRawPointer?
        var length = 0
        var offset: Int64 = 0
        let status = archive_read_data_block(self, &bytes, &length, &offset)
        return (status, UnsafeRawBufferPointer(start: bytes, count: length), offset)
    }

    /// Returns an error with libarchive's message.
    func failure(_ beginning: String) -> FetchError {
        let text = archive_error_string(self).map { String(cString: $0) } ?? "it is damaged"
        return FetchError(text.lowercased().contains("truncated") ? .truncated : .decoding, "\(beginning): \(text)")
    }
}
