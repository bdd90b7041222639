import Crypto
import FeedFetching
import FeedModel
import FeedStaging
import Foundation

/// Keeps the bodies that one request of a run is answered with, compressed, while they are parsed. They are in a file for
/// scratch until they are finished.
final class BodyKeeper {
    private let folder: BodyFolder
    private let source: String
    private let path: String
    private let file: FileHandle
    private let writer: BodyFileWriter
    /// Of the bodies, and of what they were asked for.
    private var hash = SHA256()

    /// - Parameters:
    ///   - workFolder: the folder of scratch files, on the same file system as the folder of bodies.
    ///   - index: the request's position in its stack.
    /// - Throws: ``StoreError``
    init(_ folder: BodyFolder, source: String, index: Int, workFolder: String) throws {
        self.folder = folder
        self.source = source
        path = ScratchBody.path(of: source, index: index, in: workFolder)
        do {
            try FileManager.default.createDirectory(atPath: workFolder, withIntermediateDirectories: true)
            // Left over from a run that was cut off, it may have any rights.
            unlink(path)
            let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
            file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            writer = try BodyFileWriter(file)
        } catch {
            throw BodyFolder.failure(path, error.localizedDescription)
        }
    }

    deinit { unlink(path) }

    /// Begins a body.
    func begin(_ body: KeptBody) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let head = try encoder.encode(body)
        hash.update(data: try encoder.encode(body.given))
        try writing { try writer.begin(head) }
    }

    /// - Parameter bytes: the next of the body, after decompression.
    func append(_ bytes: UnsafeRawBufferPointer) throws {
        hash.update(bufferPointer: bytes)
        try writing { try writer.append(bytes) }
    }

    /// Ends the body.
    func end() throws { try writing { try writer.end() } }

    /// Moves all bodies to their place, durably.
    ///
    /// - Returns: the name under which they are kept, once it is in the store.
    func finish() throws -> String {
        try writing { try file.synchronize() }
        let digest = hash.finalize().prefix(8).map { String(format: "%02x", $0) }.joined()
        return try folder.place(path, of: source, digest: digest)
    }

    private func writing(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as FetchError {
            throw error
        } catch {
            throw BodyFolder.failure(path, error.localizedDescription)
        }
    }
}
