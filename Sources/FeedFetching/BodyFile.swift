import CZlib
package import Foundation

/// Writes bodies to a file while they arrive, one gzip member each (RFC 1952, section 2.2), so that `zcat` shows them.
///
/// The extra field of a member's header has the member's length and then the body's head: its metadata.
package final class BodyFileWriter {
    /// The bytes of a header before the body's head.
    static let headerSize = 12 + 4 + 8
    /// The most bytes of a body's head. An extra field has two bytes for its length.
    static let longestHead = 65_000

    /// Returns the most bytes that a body takes in the file.
    package static func longest(_ body: Int) -> Int { body + body / 1000 + headerSize + longestHead + 1000 }

    private let file: FileHandle
    private let deflater: Deflater
    /// The offset at which the current member begins.
    private var start: UInt64 = 0
    /// The number of bytes written so far.
    private var offset: UInt64 = 0
    private var checksum: UInt = 0
    private var size: UInt32 = 0
    private var pending: [UInt8] = []
    /// The most bytes in memory before they are written.
    private static let pendingLimit = 256 << 10

    /// - Parameters:
    ///   - file: an empty file, open for writing.
    ///   - compresses: false to store the bodies as they are, which takes less time.
    package init(_ file: FileHandle, compresses: Bool = true) throws {
        self.file = file
        deflater = try Deflater(compresses: compresses)
    }

    /// Begins a body.
    ///
    /// - Parameter head: the body's metadata.
    /// - Throws: ``FetchError`` if the head is too long; the file's errors.
    package func begin(_ head: Data) throws {
        guard head.count <= Self.longestHead else {
            throw FetchError(
                .tooLarge,
                "what the request was sent for is too long to be kept with its body: \(head.count) bytes, and "
                    + "\(Self.longestHead) are the most; set keep_bodies = 0 for the request")
        }
        start = offset
        checksum = crc32(0, nil, 0)
        size = 0
        // Deflate, an extra field, no time, the fastest level, an unknown system; then the field's length, and in it
        // the subfield "TB".
        var header: [UInt8] = [0x1F, 0x8B, 8, 4, 0, 0, 0, 0, 4, 255]
        header += Self.littleEndian(UInt16(head.count + 12))
        header += [UInt8(ascii: "T"), UInt8(ascii: "B")] + Self.littleEndian(UInt16(head.count + 8))
        header += Self.littleEndian(UInt64(0)) + head
        try header.withUnsafeBytes(write)
    }

    package func append(_ bytes: UnsafeRawBufferPointer) throws {
        checksum = crc32(checksum, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt32(bytes.count))
        size &+= UInt32(truncatingIfNeeded: bytes.count)
        try deflater.deflate(bytes, write)
    }

    /// Ends the body.
    package func end() throws {
        try deflater.finish(write)
        let trailer = Self.littleEndian(UInt32(truncatingIfNeeded: checksum)) + Self.littleEndian(size)
        try trailer.withUnsafeBytes(write)
        try flush()
        try file.seek(toOffset: start + 16)
        try file.write(contentsOf: Self.littleEndian(offset - start))
        try file.seek(toOffset: offset)
    }

    private func write(_ bytes: UnsafeRawBufferPointer) throws {
        offset += UInt64(bytes.count)
        pending.append(contentsOf: bytes)
        if pending.count >= Self.pendingLimit { try flush() }
    }

    private func flush() throws {
        try file.write(contentsOf: pending)
        pending.removeAll(keepingCapacity: true)
    }

    private static func littleEndian(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }
}

/// Finds the bodies in a file of ``BodyFileWriter``, one after another.
package struct BodyFileReader {
    package let file: FileHandle
    private let size: UInt64
    private var offset: UInt64 = 0

    /// - Parameter file: the file, open for reading.
    package init(_ file: FileHandle) throws {
        self.file = file
        size = try file.seekToEnd()
    }

    /// Returns the next body's head and the range of its compressed bytes; nil after the last body.
    ///
    /// - Throws: ``FetchError`` if the file is damaged.
    package mutating func next() throws -> (head: Data, range: Range<UInt64>)? {
        guard offset < size else { return nil }
        try file.seek(toOffset: offset)
        let header = try file.read(upToCount: BodyFileWriter.headerSize) ?? Data()
        guard header.count == BodyFileWriter.headerSize, header.prefix(4) == Data([0x1F, 0x8B, 8, 4]) else {
            throw damaged
        }
        let bytes = Array(header)
        let headLength = bytes.littleEndian(at: 14, count: 2) - 8
        let length = UInt64(bitPattern: Int64(bytes.littleEndian(at: 16, count: 8)))
        guard headLength >= 0, length > UInt64(header.count + headLength), length <= size - offset,
            let head = try file.read(upToCount: headLength), head.count == headLength
        else { throw damaged }
        defer { offset += length }
        return (head, offset..<offset + length)
    }

    private var damaged: FetchError {
        FetchError(.truncated, "the file of the kept body is damaged: it ends, or goes on otherwise, at byte \(offset)")
    }
}
