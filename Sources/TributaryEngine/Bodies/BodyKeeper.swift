import Crypto
import FeedFetching
import FeedModel
import FeedStaging
import Foundation

/// Keeps the bodies that one request of a run is answered with while they are parsed. They are in a scratch file until
/// they are finished. The file is made with the first body, as most requests are answered without one.
final class BodyKeeper {
    private struct Output {
        var file: FileHandle
        var writer: BodyFileWriter
    }

    private let folder: BodyFolder
    private let source: String
    private let path: String
    private let isForBlockedRun: Bool
    private let random: any RandomSource
    private var output: Output?
    /// The reason why nothing can be kept in case that the run is blocked.
    private var failure: StoreError?
    /// Of the bodies, and of what they were asked for.
    private var hash = SHA256()

    /// - Parameters:
    ///   - workFolder: the folder of scratch files, on the same file system as the folder of bodies.
    ///   - index: the request's position in its stack.
    ///   - isForBlockedRun: true where the bodies are kept only if the run is blocked. They are then not compressed, and
    ///     what goes wrong is thrown by ``finish()`` alone, as most runs do not need them.
    init(
        _ folder: BodyFolder, source: String, index: Int, workFolder: String, isForBlockedRun: Bool,
        _ random: any RandomSource
    ) {
        self.folder = folder
        self.source = source
        self.isForBlockedRun = isForBlockedRun
        self.random = random
        path = ScratchBody.path(of: source, index: index, in: workFolder)
    }

    deinit { if output != nil { unlink(path) } }

    /// Begins a body.
    ///
    /// - Throws: ``StoreError``; ``FetchError`` where what is known of the body is too long.
    func begin(_ body: KeptBody) throws {
        try keeping {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            let head = try encoder.encode(body)
            hash.update(data: try encoder.encode(body.given))
            try open().writer.begin(head)
        }
    }

    /// - Parameter bytes: the next of the body, after decompression.
    func append(_ bytes: UnsafeRawBufferPointer) throws {
        try keeping {
            hash.update(bufferPointer: bytes)
            try output?.writer.append(bytes)
        }
    }

    /// Ends the body.
    func end() throws { try keeping { try output?.writer.end() } }

    /// Moves all bodies to their place, durably.
    ///
    /// - Returns: the name under which they are kept, once it is in the store.
    /// - Throws: ``StoreError``
    func finish() throws -> String {
        try keeping { try open().file.synchronize() }
        if let failure { throw failure }
        defer { output = nil }
        let digest = hash.finalize().prefix(8).map { String(format: "%02x", $0) }.joined()
        return try folder.place(path, of: source, digest: digest, identifier: random.identifier())
    }

    private func open() throws -> Output {
        if let output { return output }
        try FileManager.default.createDirectory(
            atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        // Left over from a run that was cut off, it may have any rights.
        unlink(path)
        let descriptor = Foundation.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        let new = Output(file: file, writer: try BodyFileWriter(file, compresses: !isForBlockedRun))
        output = new
        return new
    }

    private func keeping(_ body: () throws -> Void) throws {
        guard failure == nil else { return }
        do {
            try body()
        } catch {
            let problem = BodyFolder.failure(path, (error as? FetchError)?.description ?? error.localizedDescription)
            guard isForBlockedRun else { throw error is FetchError ? error : problem }
            failure = problem
            // What was written so far only takes room.
            if output != nil { unlink(path) }
            output = nil
        }
    }
}
