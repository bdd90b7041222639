import CZlib

/// Reads the single file of a ZIP archive while the archive arrives (PKWARE's APPNOTE.TXT 6.3, section 4.3).
///
/// Files may be stored or deflated, with their sizes before or after the data, in ZIP64 or not. Folders are skipped.
/// The archive is read to its end record, which shows that it is complete. More than one file is an error.
final class ZipArchive {
    private enum State {
        case signature, fileHeader
        case fileNames(FileHeader)
        case stored(left: Int)
        case deflated
        case descriptorStart
        case descriptor(hasSignature: Bool)
        case directoryEntry, endSize
        case skipping(Int)
        case end
    }

    /// The header of a file's data (section 4.3.7), without the signature.
    private struct FileHeader {
        var flags: Int
        var method: Int
        var checksum: Int
        var compressedSize: Int
        var nameLength: Int
        var extraLength: Int

        init(_ bytes: [UInt8]) {
            flags = bytes.littleEndian(at: 2, count: 2)
            method = bytes.littleEndian(at: 4, count: 2)
            checksum = bytes.littleEndian(at: 10, count: 4)
            compressedSize = bytes.littleEndian(at: 14, count: 4)
            nameLength = bytes.littleEndian(at: 22, count: 2)
            extraLength = bytes.littleEndian(at: 24, count: 2)
        }

        var isEncrypted: Bool { flags & 1 != 0 }
        /// True if the checksum and sizes follow the data.
        var hasDescriptor: Bool { flags & 8 != 0 }
    }

    private var state = State.signature
    private var pending: [UInt8] = []
    private var inflater: Inflater?
    private var header: FileHeader?
    private var isZip64 = false
    private var hasFile = false
    private var isFolder = false
    private var checksum: UInt = 0
    /// The checksum that the archive gives.
    private var declaredChecksum = 0

    /// Returns true if a body begins like an archive.
    static func isArchive(_ start: [UInt8]) -> Bool { start.starts(with: [0x50, 0x4B, 0x03, 0x04]) }

    /// Reads the archive's next bytes, and passes the file's data in them to `body`.
    ///
    /// - Throws: ``FetchError`` if the bytes are not an archive, or its content is not a single file.
    func read(_ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        var rest = bytes
        while !rest.isEmpty {
            let used: Int
            switch state {
            case .stored(let left):
                let part = UnsafeRawBufferPointer(rebasing: rest.prefix(left))
                try deliver(part, body)
                used = part.count
                state = .stored(left: left - used)
                if used == left { try endFile() }
            case .deflated:
                guard let inflater else { return }
                used = try inflater.inflate(rest) { try deliver($0, body) }
                if inflater.isAtEnd { try endFile() }
            case .skipping(let count):
                used = min(count, rest.count)
                state = used == count ? .signature : .skipping(count - used)
            case .end:
                return
            default:
                used = min(wanted - pending.count, rest.count)
                pending += rest.prefix(used)
                if pending.count == wanted {
                    let record = pending
                    pending = []
                    try take(record)
                }
            }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(used))
        }
    }

    /// - Throws: ``FetchError`` if the archive is cut off or holds no file.
    func finish() throws {
        guard case .end = state else { throw FetchError(.truncated, "the ZIP archive ended before its last byte") }
        guard hasFile else { throw FetchError(.decoding, "the ZIP archive holds no file") }
    }

    /// The size of the current record, in bytes.
    private var wanted: Int {
        switch state {
        case .fileHeader: 26
        case .fileNames(let header): header.nameLength + header.extraLength
        case .descriptor(let hasSignature): (isZip64 ? 16 : 8) + (hasSignature ? 4 : 0)
        case .directoryEntry: 42
        case .endSize: 8
        default: 4
        }
    }

    private func take(_ record: [UInt8]) throws {
        switch state {
        case .signature: try begin(record)
        case .fileHeader: state = .fileNames(FileHeader(record))
        case .fileNames(let header): try beginFile(header, record)
        case .descriptorStart:
            let hasSignature = record == [0x50, 0x4B, 0x07, 0x08]
            if !hasSignature { declaredChecksum = record.littleEndian(at: 0, count: 4) }
            state = .descriptor(hasSignature: hasSignature)
        case .descriptor(let hasSignature):
            if hasSignature { declaredChecksum = record.littleEndian(at: 0, count: 4) }
            try checkFile()
        case .directoryEntry:
            // Name, extra field and comment (section 4.3.12).
            state = .skipping([24, 26, 28].reduce(0) { $0 + record.littleEndian(at: $1, count: 2) })
            if case .skipping(0) = state { state = .signature }
        case .endSize: state = .skipping(max(1, record.littleEndian(at: 0, count: 8)))
        default: break
        }
    }

    private func begin(_ signature: [UInt8]) throws {
        switch signature {
        case [0x50, 0x4B, 0x03, 0x04]: state = .fileHeader
        case [0x50, 0x4B, 0x01, 0x02]: state = .directoryEntry
        case [0x50, 0x4B, 0x06, 0x06]: state = .endSize
        case [0x50, 0x4B, 0x06, 0x07]: state = .skipping(16)
        case [0x50, 0x4B, 0x05, 0x06]: state = .end
        default: throw FetchError(.decoding, "the body is not a valid ZIP archive")
        }
    }

    private func beginFile(_ header: FileHeader, _ names: [UInt8]) throws {
        let name = String(decoding: names.prefix(header.nameLength), as: UTF8.self)
        self.header = header
        declaredChecksum = header.checksum
        checksum = 0
        let extra = Self.zip64Sizes(Array(names.dropFirst(header.nameLength)))
        isZip64 = extra != nil
        let size = header.compressedSize == 0xFFFF_FFFF ? extra?.last ?? 0 : header.compressedSize
        guard size >= 0 else { throw FetchError(.decoding, "the body is not a valid ZIP archive") }
        isFolder = name.hasSuffix("/")
        guard isFolder || !hasFile else { throw Self.severalFiles(name) }
        if !isFolder { hasFile = true }
        switch (header.isEncrypted, header.method) {
        case (true, _): throw FetchError(.decoding, "the file '\(name)' in the ZIP archive is encrypted")
        case (_, 8):
            inflater = try Inflater(.raw, name: "ZIP")
            state = .deflated
        case (_, 0) where !header.hasDescriptor:
            state = .stored(left: size)
            if size == 0 { try endFile() }
        default:
            throw FetchError(
                .decoding,
                "the file '\(name)' in the ZIP archive is neither deflated nor stored with its size before it")
        }
    }

    /// The error of an archive with several files, such as a workbook (ISO/IEC 29500-2).
    private static func severalFiles(_ second: String) -> FetchError {
        if ["xl/", "_rels/", "docProps/", "[Content_Types].xml"].contains(where: second.hasPrefix) {
            return FetchError(
                .decoding,
                "the ZIP archive seems to be a workbook; set format = \"xlsx\" (for `infer` and `init`: --format xlsx)")
        }
        return FetchError(
            .decoding, "the ZIP archive holds more than one file; '\(second)' is the second",
            advice: "select files with documents = \"*.xml\"")
    }

    /// Returns the sizes in the extra field of ZIP64 (section 4.5.3): the file's, then the compressed one.
    private static func zip64Sizes(_ extra: [UInt8]) -> [Int]? {
        var offset = 0
        while offset + 4 <= extra.count {
            let length = extra.littleEndian(at: offset + 2, count: 2)
            if extra.littleEndian(at: offset, count: 2) == 1, offset + 4 + length <= extra.count {
                return stride(from: offset + 4, to: offset + length - 3, by: 8).prefix(2).map {
                    extra.littleEndian(at: $0, count: 8)
                }
            }
            offset += 4 + length
        }
        return nil
    }

    private func endFile() throws {
        inflater = nil
        if header?.hasDescriptor ?? false { state = .descriptorStart } else { try checkFile() }
    }

    private func checkFile() throws {
        guard checksum == UInt(declaredChecksum) else {
            throw FetchError(.decoding, "the file in the ZIP archive is damaged: its CRC-32 differs")
        }
        state = .signature
    }

    private func deliver(_ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        checksum = crc32(checksum, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt32(bytes.count))
        if !isFolder { try body(bytes) }
    }
}

extension [UInt8] {
    func littleEndian(at offset: Int, count: Int) -> Int {
        // A size of eight bytes with the topmost bit set exceeds any file; it must not trap.
        Int(truncatingIfNeeded: (0..<count).reduce(UInt64(0)) { $0 | UInt64(self[offset + $1]) << (8 * UInt64($1)) })
    }
}
