import CArchive
package import FeedConfiguration
import FeedModel
package import Foundation

/// Reads the members of an archive that match a pattern, one after another.
///
/// Reads ZIP, and tar without compression or with gzip, bzip2, xz, LZMA or Zstandard. A file that is no archive counts
/// as one member, unpacked. Folders, links and devices are skipped. Memory holds one piece of a member.
package final class ArchiveReader {
    /// The most members, matching or not.
    package static let memberLimit = 100_000
    private static let longestName = 4096

    private let archive: OpaquePointer
    private let input: ArchiveInput
    private let size: Int
    private let pattern: MemberPattern
    /// The name of the only member, if the file is no archive.
    private let single: String
    private let limit: Int
    private let names: locale_t?
    /// True for a ZIP archive without members, which libarchive does not recognize.
    private let isEmpty: Bool
    private var entry: OpaquePointer?
    private var count = 0
    private var matches = 0
    private var examples: [String] = []
    /// The bytes of matching members, unpacked.
    private var unpacked = 0
    /// The offset in the member.
    private var position: Int64 = 0
    private var isAtEnd = false

    /// - Parameters:
    ///   - file: the archive, in a file that can be read at any offset.
    ///   - single: the member's name, if the file is no archive.
    ///   - limit: the most bytes that the archive and its members may each unpack to.
    /// - Throws: ``FetchError`` if the archive cannot be read.
    package init(_ file: FileHandle, pattern: MemberPattern, single: String, limit: Int) throws {
        self.pattern = pattern
        self.single = single
        self.limit = limit
        size = Int(try file.seekToEnd())
        guard size > 0 else { throw FetchError(.decoding, "the body is empty") }
        try file.seek(toOffset: 0)
        let start = Array(try file.read(upToCount: 4) ?? Data())
        // Created last, because deinit does not run if the initializer throws.
        guard let archive = archive_read_new() else { throw FetchError(.decoding, "not enough memory for an archive") }
        self.archive = archive
        names = tributary_utf8_locale()
        input = ArchiveInput(file, size: size, limit: limit)
        isEmpty = ZipDirectory.isEmptyArchive(start) && size < 1 << 16
        guard !isEmpty else { return }
        if ZipArchive.isArchive(start) {
            try ZipDirectory(file.fileDescriptor, size: size).check(limit: Self.memberLimit)
            // The reader of streams would accept an archive that is cut off between two members.
            archive_read_support_format_zip_seekable(archive)
        } else {
            CompressedFile.supportFilters(archive)
            archive_read_support_format_tar(archive)
            archive_read_support_format_raw(archive)
        }
        guard input.open(archive) == ARCHIVE_OK else { throw failure }
        // The file itself counts as one filter. With several compressions, one piece may unpack to more than the limit.
        guard archive_filter_count(archive) <= 2 else {
            throw FetchError(.decoding, "the archive is compressed more than once")
        }
    }

    deinit {
        archive_read_free(archive)
        if let names { freelocale(names) }
    }

    /// Advances to the next member that matches.
    ///
    /// - Returns: its name; nil behind the last.
    /// - Throws: ``FetchError`` if the archive is damaged, truncated or has too many members, or the member is encrypted or
    ///   has a name that leads out of the archive.
    package func next() throws -> String? {
        while !isEmpty {
            switch tributary_next_header(archive, &entry, names) {
            case ARCHIVE_EOF:
                try checkEnd()
                return nil
            case ARCHIVE_OK, ARCHIVE_WARN: break
            default: throw failure
            }
            if let failure = input.failure { throw failure }
            count += 1
            guard count <= Self.memberLimit else { throw Self.tooMany(Self.memberLimit) }
            if archive_format(archive) & ARCHIVE_FORMAT_BASE_MASK == ARCHIVE_FORMAT_RAW {
                matches += 1
                return single
            }
            guard let entry, tributary_is_file(entry) != 0 else { continue }
            let name = try name(of: entry)
            guard pattern.matches(name) else {
                if examples.count < 3 { examples.append(name) }
                continue
            }
            matches += 1
            guard !name.hasPrefix("/"), !name.split(separator: "/").contains("..") else {
                throw FetchError(
                    .decoding, "the member '\(name.prefix(200))' has a path that leads out of the archive")
            }
            guard archive_entry_is_encrypted(entry) == 0 else {
                throw FetchError(.decoding, "the member '\(name)' of the archive is encrypted")
            }
            return name
        }
        return nil
    }

    /// Passes the member's bytes to `consume`, in pieces. A member that is a file compressed by bzip2, xz or Zstandard
    /// is unpacked. The reader of the body unpacks gzip.
    ///
    /// - Throws: ``FetchError``; the errors of `consume`.
    package func forEachPiece(_ consume: (UnsafeRawBufferPointer) throws -> Void) throws {
        (position, isAtEnd) = (0, false)
        var start: [UInt8] = []
        while start.count < CompressedFile.markLength, let piece = try nextPiece() { start += piece }
        if CompressedFile.isCompressed(start) {
            return try CompressedFile(start, rest: nextPiece).forEachPiece(consume)
        }
        try start.withUnsafeBytes(consume)
        while let piece = try nextPiece() { try consume(piece) }
    }

    /// Returns the next bytes of the member, which are valid until the next call; nil at the end.
    private func nextPiece() throws -> UnsafeRawBufferPointer? {
        guard !isAtEnd else { return nil }
        let (status, piece, offset) = archive.nextBlock()
        switch status {
        case ARCHIVE_OK:
            guard offset == position else { throw FetchError(.decoding, "it has gaps, which no document has") }
            position += Int64(piece.count)
            unpacked += piece.count
            guard unpacked <= limit else { throw Self.tooLarge(limit) }
            return piece
        case ARCHIVE_EOF:
            if let failure = input.failure { throw failure }
            isAtEnd = true
            if let entry, archive_entry_size_is_set(entry) != 0, archive_entry_size(entry) != position {
                throw FetchError(
                    .truncated, "it has \(position) bytes, but the archive says \(archive_entry_size(entry))")
            }
            return nil
        // A wrong checksum is a warning.
        default: throw failure
        }
    }

    /// The error of an archive without a matching member; nil if a member has matched.
    package var shortage: FetchError? {
        guard matches == 0 else { return nil }
        let found = examples.map { "'\($0)'" }.joined(separator: ", ")
        return FetchError(
            .decoding,
            "no member of the archive matches documents = \"\(pattern.text)\"; "
                + (found.isEmpty
                    ? "it holds no file" : "it holds \(found)" + (count > examples.count ? " and others" : ""))
                + "; set allow_empty = true if that is valid")
    }

    private func name(of entry: OpaquePointer) throws -> String {
        guard let bytes = archive_entry_pathname(entry) else {
            throw FetchError(.decoding, "the name of member \(count) of the archive cannot be read")
        }
        guard strlen(bytes) <= Self.longestName else {
            throw FetchError(
                .decoding, "the name of member \(count) of the archive has more than \(Self.longestName) bytes")
        }
        let raw = UnsafeBufferPointer(start: bytes, count: strlen(bytes)).map { UInt8(bitPattern: $0) }
        let isZip = archive_format(archive) & ARCHIVE_FORMAT_BASE_MASK == ARCHIVE_FORMAT_ZIP
        var name =
            isZip && String(validating: raw, as: UTF8.self) == nil
            ? CodePage437.text(raw) : MemberPattern.name(of: raw)
        while name.hasPrefix("./") { name.removeFirst(2) }
        return name
    }

    /// - Throws: ``FetchError`` if a tar archive ends without its end marker, which libarchive accepts.
    private func checkEnd() throws {
        if let failure = input.failure { throw failure }
        if archive_format(archive) & ARCHIVE_FORMAT_BASE_MASK == ARCHIVE_FORMAT_RAW {
            try CompressedFile.checkEnd(archive, size: size)
        }
        guard archive_format(archive) & ARCHIVE_FORMAT_BASE_MASK == ARCHIVE_FORMAT_TAR,
            archive_filter_bytes(archive, 0) <= archive_read_header_position(archive)
        else { return }
        throw FetchError(.truncated, "the tar archive ended before its end marker")
    }

    /// The error with libarchive's message.
    private var failure: any Error {
        input.failure ?? archive.failure("the archive cannot be read")
    }

    static func tooMany(_ limit: Int) -> FetchError {
        FetchError(.tooLarge, "the archive has more than \(limit) members")
    }

    package static func tooLarge(_ limit: Int) -> FetchError {
        FetchError(.tooLarge, "the archive, unpacked, is larger than max_body, \(ByteSize.text(limit)); raise max_body")
    }
}

/// The encoding of a ZIP archive's names without the flag for UTF-8 (PKWARE's APPNOTE.TXT 6.3, appendix D).
enum CodePage437 {
    /// The characters of the bytes from 0x80.
    private static let upperHalf = Array(
        "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀"
            + "αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{A0}")

    static func text(_ bytes: some Sequence<UInt8>) -> String {
        String(bytes.map { $0 < 0x80 ? Character(Unicode.Scalar($0)) : upperHalf[Int($0) - 0x80] })
    }
}

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
