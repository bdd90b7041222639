import FeedConfiguration
import FeedFetching
import FeedModel
import FeedParsing
import FeedStaging
import Foundation

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
