import Foundation

/// The bytes between two offsets of a file. Bytes that are appended to the file meanwhile are not read.
struct FilePart: BodySource {
    private static let pieceSize = 256 << 10

    let handle: FileHandle
    let range: Range<UInt64>
    /// The file's name in messages.
    let name: String

    var size: Int? { range.count }

    /// Passes the bytes to `consume`, in pieces.
    ///
    /// - Throws: ``FetchError`` if the file became shorter; the errors of reading, `check` and `consume`.
    func forEachPiece(check: () throws -> Void, _ consume: (UnsafeRawBufferPointer) throws -> Void) throws {
        try handle.seek(toOffset: range.lowerBound)
        var left = range.count
        while left > 0, let piece = try handle.read(upToCount: min(left, Self.pieceSize)), !piece.isEmpty {
            try check()
            left -= piece.count
            try piece.withUnsafeBytes(consume)
        }
        guard left == 0 else {
            throw FetchError(
                .truncated,
                "\(name): the file became \(left) bytes shorter while it was read; write a new file and rename it over "
                    + "the old one")
        }
    }
}
