import FeedConfiguration
import Foundation

/// The central directory of a ZIP archive (PKWARE's APPNOTE.TXT 6.3, sections 4.3.12 to 4.3.16). Checks that it exists
/// and how long it is, before libarchive reads it into memory.
struct ZipDirectory {
    private let descriptor: Int32
    private let size: Int

    init(_ descriptor: Int32, size: Int) {
        self.descriptor = descriptor
        self.size = size
    }

    /// Returns true if a file's first bytes are the end record, which is all of an archive without members.
    static func isEmptyArchive(_ start: [UInt8]) -> Bool { start.starts(with: [0x50, 0x4B, 0x05, 0x06]) }

    /// Reads the directory.
    ///
    /// - Throws: ``FetchError`` if the directory is missing, as in a truncated archive, has more entries than the
    ///   limit, or gives a member another name than the header before the member's data.
    func check(limit: Int) throws {
        var offset = try start()
        var count = 0
        var buffer: [UInt8] = []
        var first = offset
        while true {
            if offset < first || offset + 46 > first + buffer.count {
                first = offset
                buffer = read(offset, 64 << 10)
            }
            let entry = buffer[(offset - first)...]
            let signature = Array(entry.prefix(4))
            if signature == [0x50, 0x4B, 5, 6] || signature == [0x50, 0x4B, 6, 6] { return }
            guard entry.count >= 46, signature == [0x50, 0x4B, 1, 2] else { throw Self.invalid }
            count += 1
            guard count <= limit else { throw ArchiveReader.tooMany(limit) }
            let base = entry.startIndex
            let length = 46 + buffer.littleEndian(at: base + 28, count: 2)
            // The rest of a long entry is not in the buffer.
            let whole = entry.count >= length ? Array(entry.prefix(length)) : read(offset, length)
            guard whole.count == length else { throw Self.invalid }
            try checkName(Array(whole.dropFirst(46)), headerAt: whole.littleEndian(at: 42, count: 4))
            offset += 46 + [28, 30, 32].reduce(0) { $0 + buffer.littleEndian(at: base + $1, count: 2) }
        }
    }

    /// Compares a member's name in the directory with that in the header before its data (section 4.3.7). libarchive
    /// takes the latter.
    ///
    /// - Parameter offset: the header's offset; 0xFFFFFFFF if it is in the extra field of ZIP64, where it is not
    ///   compared.
    private func checkName(_ name: [UInt8], headerAt offset: Int) throws {
        guard offset < 0xFFFF_FFFF else { return }
        let header = read(offset, 30 + name.count)
        // Without the signature, libarchive reports the error.
        guard header.starts(with: [0x50, 0x4B, 3, 4]) else { return }
        guard header.count >= 30 else { throw Self.invalid }
        guard header.count == 30 + name.count, header.littleEndian(at: 26, count: 2) == name.count,
            header.dropFirst(30).elementsEqual(name)
        else {
            let found = MemberPattern.name(of: read(offset + 30, min(header.littleEndian(at: 26, count: 2), 200)))
            throw FetchError(
                .decoding,
                "the ZIP archive is damaged: the member '\(MemberPattern.name(of: name.prefix(200)))' of its directory has the name "
                    + "'\(found)' before its data")
        }
    }

    /// Returns the offset of the directory, from the last end record, as libarchive does.
    private func start() throws -> Int {
        let tail = read(max(0, size - 16 << 10), 16 << 10)
        let base = max(0, size - 16 << 10)
        guard tail.count >= 22,
            let end = (0...(tail.count - 22)).reversed().first(where: { tail[$0...].starts(with: [0x50, 0x4B, 5, 6]) })
        else { throw FetchError(.truncated, "the ZIP archive ended before its last byte") }
        var start = tail.littleEndian(at: end + 16, count: 4)
        if end >= 20, tail[(end - 20)...].starts(with: [0x50, 0x4B, 6, 7]) {
            let record = read(tail.littleEndian(at: end - 12, count: 8), 56)
            guard record.count == 56, record.starts(with: [0x50, 0x4B, 6, 6]) else { throw Self.invalid }
            start = record.littleEndian(at: 48, count: 8)
        }
        guard start >= 0, start <= base + end else { throw Self.invalid }
        return start
    }

    private func read(_ offset: Int, _ count: Int) -> [UInt8] {
        guard offset >= 0, offset < size else { return [] }
        return [UInt8](unsafeUninitializedCapacity: min(count, size - offset)) { buffer, filled in
            filled = 0
            while filled < buffer.count {
                let part = pread(
                    descriptor, buffer.baseAddress.map { $0 + filled }, buffer.count - filled, off_t(offset + filled))
                guard part > 0 else { return }
                filled += part
            }
        }
    }

    private static var invalid: FetchError { FetchError(.decoding, "the body is not a valid ZIP archive") }
}
