import FeedModel
import Foundation

/// The files of a folder as a tar archive (POSIX.1-1988, with GNU's long names), which is written while it is read.
///
/// A file that is not as it was when the folder was looked through ends it.
struct FolderArchive: BodySource {
    private static let blockSize = 512
    private static let pieceSize = 256 << 10

    private let folder: FolderListing

    init(_ folder: FolderListing) { self.folder = folder }

    /// The bytes of all files.
    var size: Int? { folder.files.reduce(0) { $0 + $1.size } }

    /// Passes the archive to `consume`, in pieces.
    ///
    /// - Throws: ``FetchError`` where a file has changed; `CancellationError`; the errors of `consume`.
    func forEachPiece(_ consume: (UnsafeRawBufferPointer) throws -> Void) throws {
        for file in folder.files {
            try Task.checkCancellation()
            if file.path.count >= 100 {
                let name = file.path + [0]
                try (Self.header("././@LongLink".utf8, size: name.count, type: "L") + Self.padded(name))
                    .withUnsafeBytes(consume)
            }
            try Self.header(file.path, size: file.size, type: "0").withUnsafeBytes(consume)
            try read(file, consume)
            try [UInt8](repeating: 0, count: Self.padding(file.size)).withUnsafeBytes(consume)
        }
        try [UInt8](repeating: 0, count: 2 * Self.blockSize).withUnsafeBytes(consume)
    }

    private func read(_ file: FolderListing.File, _ consume: (UnsafeRawBufferPointer) throws -> Void) throws {
        let descriptor = folder.descriptor(of: file)
        guard descriptor >= 0 else { throw failure(file, errno == ENOENT ? nil : errno) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try checkUnchanged(file, descriptor)
        var left = file.size
        while left > 0, let piece = try handle.read(upToCount: min(left, Self.pieceSize)), !piece.isEmpty {
            try Task.checkCancellation()
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

    /// - Parameter reason: the system's error; nil where the file is another one than before.
    private func failure(_ file: FolderListing.File, _ reason: Int32? = nil) -> FetchError {
        if let reason {
            return FetchError(.file, "the file '\(file.name)' cannot be read: \(String(cString: strerror(reason)))")
        }
        return FetchError(
            .truncated,
            "the file '\(file.name)' changed while the folder was read; write new files under a name that begins with a dot, "
                + "and rename them")
    }

    // MARK: - Tar

    private static func header(_ name: some Collection<UInt8>, size: Int, type: Character) -> [UInt8] {
        var block = [UInt8](repeating: 0, count: blockSize)
        func put(_ bytes: some Collection<UInt8>, at offset: Int) {
            block.replaceSubrange(offset..<offset + bytes.count, with: bytes)
        }
        put(name.prefix(100), at: 0)
        for (text, offset) in [("0000644", 100), ("0000000", 108), ("0000000", 116), ("00000000000", 136)] {
            put(text.utf8, at: offset)
        }
        let octal = String(size, radix: 8)
        if octal.utf8.count <= 11 {
            put((String(repeating: "0", count: 11 - octal.utf8.count) + octal).utf8, at: 124)
        } else {
            // A number that eleven octal digits do not hold is written in binary, with a mark (GNU tar).
            block[124] = 0x80
            put(withUnsafeBytes(of: UInt64(size).bigEndian) { Array($0) }, at: 128)
        }
        block[156] = type.asciiValue ?? 0
        put("ustar\u{0}00".utf8, at: 257)
        put("        ".utf8, at: 148)
        let sum = String(block.reduce(0) { $0 + Int($1) }, radix: 8)
        put((String(repeating: "0", count: 6 - sum.utf8.count) + sum + "\u{0} ").utf8, at: 148)
        return block
    }

    private static func padding(_ size: Int) -> Int { (blockSize - size % blockSize) % blockSize }

    private static func padded(_ bytes: [UInt8]) -> [UInt8] {
        bytes + [UInt8](repeating: 0, count: padding(bytes.count))
    }
}
