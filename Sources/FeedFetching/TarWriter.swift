/// Writes the headers and the padding of a tar archive (POSIX.1-1988, with GNU's long names).
enum TarWriter {
    private static let blockSize = 512

    /// Passes the bytes before a file to `consume`.
    static func begin(_ name: [UInt8], size: Int, _ consume: (UnsafeRawBufferPointer) throws -> Void) throws {
        if name.count >= 100 {
            let long = name + [0]
            try (header("././@LongLink".utf8, size: long.count, type: "L") + padded(long)).withUnsafeBytes(consume)
        }
        try header(name, size: size, type: "0").withUnsafeBytes(consume)
    }

    /// Passes the padding after a file to `consume`.
    static func end(size: Int, _ consume: (UnsafeRawBufferPointer) throws -> Void) throws {
        try [UInt8](repeating: 0, count: padding(size)).withUnsafeBytes(consume)
    }

    /// Passes the end of the archive to `consume`.
    static func finish(_ consume: (UnsafeRawBufferPointer) throws -> Void) throws {
        try [UInt8](repeating: 0, count: 2 * blockSize).withUnsafeBytes(consume)
    }

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
            // A number of more than eleven octal digits is written in binary, with a mark (GNU tar).
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

/// A listing whose files are read one after another by a thread that blocks, as a tar archive.
protocol BlockingListing: ListedSource, BodySource {
    /// Passes a file to `consume`, in pieces.
    ///
    /// - Throws: ``FetchError`` if the file has changed; the errors of `check` and `consume`.
    func read(
        _ file: File, _ check: () throws -> Void, _ consume: (UnsafeRawBufferPointer) throws -> Void
    ) throws

    /// Called after the last file.
    ///
    /// - Throws: ``FetchError`` if a file has changed since it was listed; the errors of `check`.
    func end(_ check: () throws -> Void) throws
}

extension BlockingListing {
    func end(_ check: () throws -> Void) throws {}

    func forEachPiece(check: () throws -> Void, _ consume: (UnsafeRawBufferPointer) throws -> Void) throws {
        for file in files {
            try check()
            try TarWriter.begin(file.path, size: file.size, consume)
            try read(file, check, consume)
            try TarWriter.end(size: file.size, consume)
        }
        try end(check)
        try TarWriter.finish(consume)
    }
}
