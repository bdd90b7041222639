import FeedModel
import FeedFetching
import FeedStaging
import Foundation

/// Keeps the bodies of a request's responses while they are parsed. A scratch file holds them until they are complete.
/// The first body creates it, because most responses have no body.
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
    /// The error that prevents keeping bodies for a blocked run.
    private var failure: StoreError?
    /// The hash of the bodies and their requests.
    private var hash = SHA256()

    /// - Parameters:
    ///   - workFolder: the folder of scratch files, on the same file system as the folder of bodies.
    ///   - index: the request's position in its stack.
    ///   - isForBlockedRun: true if the bodies are kept only if the run is blocked. They are then not compressed, and only
    ///     ``finish()`` throws errors, because most runs do not need them.
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
    /// - Throws: ``StoreError``; ``FetchError`` if the body's metadata is too long.
    func begin(_ body: KeptBody) throws {
        try keeping {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            let head = try encoder.encode(body)
            hash.update(try encoder.encode(body.given))
            try open().writer.begin(head)
        }
    }

    /// - Parameter bytes: the next bytes of the body, decompressed.
    func append(_ bytes: UnsafeRawBufferPointer) throws {
        try keeping {
            hash.update(bytes)
            try output?.writer.append(bytes)
        }
    }

    /// Ends the body.
    func end() throws { try keeping { try output?.writer.end() } }

    /// Moves all bodies into the folder, durably.
    ///
    /// - Returns: the file's name, which the commit stores.
    /// - Throws: ``StoreError``
    func finish() throws -> String {
        try keeping { try open().file.synchronize() }
        if let failure { throw failure }
        defer { output = nil }
        let digest = String(hash.digest().hexadecimal.prefix(16))
        return try folder.place(path, of: source, digest: digest, identifier: random.identifier())
    }

    private func open() throws -> Output {
        if let output { return output }
        try ScratchDatabase.makeFolder(at: (path as NSString).deletingLastPathComponent)
        // A file of an interrupted run may have any permissions.
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
            // The incomplete file is useless.
            if output != nil { unlink(path) }
            output = nil
        }
    }
}
