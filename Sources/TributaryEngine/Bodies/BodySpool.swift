import FeedConfiguration
import FeedFetching
import FeedModel
import FeedParsing
import FeedStaging
import FeedStores
import Foundation

/// Holds a body until its digest shows whether it has changed: in memory up to ``memoryLimit``, then in an unnamed file
/// beside the store. Holds the bytes as received, and counts them decompressed. An archive is always in the file,
/// without its content coding, because its members are at any offset.
final class BodySpool {
    static let memoryLimit = 1 << 20

    private let folder: String
    private let decoder: BodyDecoder
    private var hash = SHA256()
    private var memory: [UInt8] = []
    private let isArchive: Bool
    private var file: FileHandle?

    /// Bytes received, before decompression.
    private(set) var received = 0
    /// Bytes after decompression.
    package var count: Int { decoder.count }

    /// - Parameters:
    ///   - folder: the folder of the file, if one is needed.
    ///   - limit: the most bytes after decompression.
    ///   - isArchive: true to keep the body as an archive.
    ///   - format: the declared format; nil to derive it from the response.
    init(
        _ response: FeedResponse, folder: String, limit: Int, isArchive: Bool = false, format: BodyFormat? = nil
    ) throws {
        self.folder = folder
        self.isArchive = isArchive
        decoder = try BodyDecoder(
            contentEncoding: response[header: "Content-Encoding"], limit: limit,
            opensArchives: !isArchive && !DocumentFormat.isArchive(response, declared: format))
    }

    deinit { try? file?.close() }

    /// - Throws: the error of decompression; ``StoreError`` if the disk is full.
    func append(_ piece: UnsafeRawBufferPointer) throws {
        received += piece.count
        try decoder.decode(piece) { bytes in
            try Task.checkCancellation()
            hash.update(bytes)
            if isArchive { try keep(bytes) }
        }
        if !isArchive { try keep(piece) }
    }

    private func keep(_ piece: UnsafeRawBufferPointer) throws {
        if file == nil, !isArchive, memory.count + piece.count <= Self.memoryLimit {
            return memory.append(contentsOf: piece)
        }
        do {
            if file == nil {
                file = try UnnamedFile.make(in: folder)
                try file?.write(contentsOf: memory)
                memory = []
            }
            try file?.write(contentsOf: piece)
        } catch {
            throw StoreError(.unavailable, "the body cannot be kept in \(folder): \(error.localizedDescription)")
        }
    }

    /// Ends the body.
    ///
    /// - Returns: SHA-256 of the body after decompression, in hexadecimal digits.
    func finish() throws -> String {
        try decoder.finish { bytes in
            hash.update(bytes)
            if isArchive { try keep(bytes) }
        }
        return hash.digest().hexadecimal
    }

    /// Returns the file with the archive, after the end of the body.
    func archive() throws -> FileHandle {
        let file = try self.file ?? UnnamedFile.make(in: folder)
        self.file = file
        return file
    }

    /// Passes the kept body to `consume`, in pieces.
    func forEachPiece(_ consume: (UnsafeRawBufferPointer) throws -> Void) throws {
        guard let file else { return try memory.withUnsafeBytes(consume) }
        try file.seek(toOffset: 0)
        while let piece = try file.read(upToCount: 256 << 10), !piece.isEmpty {
            try Task.checkCancellation()
            try piece.withUnsafeBytes(consume)
        }
    }
}

/// Keeps a body that is an archive in a file, and unpacks its members for the reader of its format.
final class BodyArchive: DocumentArchive {
    let folder: String
    private let limit: Int
    private var file: FileHandle?
    /// The bytes of all members that have been read, unpacked.
    private(set) var unpacked = 0

    /// - Parameters:
    ///   - folder: the folder of the file.
    ///   - limit: the most bytes that all members together may unpack to.
    init(folder: String, limit: Int) {
        self.folder = folder
        self.limit = limit
    }

    deinit { try? file?.close() }

    /// - Throws: ``StoreError`` if the disk is full.
    func append(_ bytes: UnsafeRawBufferPointer) throws {
        do {
            let file = try self.file ?? UnnamedFile.make(in: folder)
            self.file = file
            try file.write(contentsOf: bytes)
        } catch {
            throw StoreError(.unavailable, "the body cannot be kept in \(folder): \(error.localizedDescription)")
        }
    }

    func read(_ isWanted: (String) -> Bool, _ consume: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
        guard let file else { return false }
        let archive = try ArchiveReader(file, pattern: MemberPattern("**"), single: "", limit: limit)
        while let name = try archive.next() {
            guard isWanted(name) else { continue }
            try archive.forEachPiece { piece in
                try Task.checkCancellation()
                unpacked += piece.count
                guard unpacked <= limit else { throw ArchiveReader.tooLarge(limit) }
                try consume(piece)
            }
            return true
        }
        return false
    }
}
