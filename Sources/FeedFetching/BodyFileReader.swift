package import Foundation

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
