import FeedModel
import FeedFetching
import FeedStaging
import Foundation

/// Keeps the bodies of a request's responses while they are parsed. A scratch file holds them until they are complete.
/// Bodies for a blocked run stay in memory while they are small, because most runs are not blocked, and files cost the
/// disk more than a small feed.
final class BodyKeeper {
    private struct Output {
        var file: FileHandle
        var writer: BodyFileWriter
    }

    private enum Part {
        case begin(KeptBody)
        case bytes([UInt8])
        case end
    }

    /// The most bytes of bodies in memory. A part counts as ``partSize`` more than it has.
    private static let mostWaiting = 16 << 10
    private static let partSize = 256

    private let folder: BodyFolder
    private let source: String
    private let path: String
    private let isForBlockedRun: Bool
    private let random: any RandomSource
    private var output: Output?
    /// The parts that are not written yet, and their size.
    private var waiting: [Part] = []
    private var waitingSize = 0
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
        try keeping { try add(.begin(body), size: 0) }
    }

    /// - Parameter bytes: the next bytes of the body, decompressed.
    func append(_ bytes: UnsafeRawBufferPointer) throws {
        try keeping {
            if output == nil {
                try add(.bytes(Array(bytes)), size: bytes.count)
            } else {
                try write(bytes)
            }
        }
    }

    /// Ends the body.
    func end() throws { try keeping { try add(.end, size: 0) } }

    private func add(_ part: Part, size: Int) throws {
        guard output == nil else { return try write(part) }
        waiting.append(part)
        waitingSize += size + Self.partSize
        if !isForBlockedRun || waitingSize > Self.mostWaiting { try writeWaiting() }
    }

    private func writeWaiting() throws {
        defer { waiting = [] }
        if output == nil { output = try makeOutput() }
        for part in waiting { try write(part) }
    }

    private func write(_ part: Part) throws {
        switch part {
        case .begin(let body):
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            let head = try encoder.encode(body)
            hash.update(try encoder.encode(body.given))
            try output?.writer.begin(head)
        case .bytes(let bytes): try bytes.withUnsafeBytes(write)
        case .end: try output?.writer.end()
        }
    }

    private func write(_ bytes: UnsafeRawBufferPointer) throws {
        hash.update(bytes)
        try output?.writer.append(bytes)
    }

    /// Moves all bodies into the folder, durably.
    ///
    /// - Returns: the file's name, which the commit stores.
    /// - Throws: ``StoreError``
    func finish() throws -> String {
        try keeping {
            try writeWaiting()
            try output?.file.synchronize()
        }
        if let failure { throw failure }
        defer { output = nil }
        let digest = String(hash.digest().hexadecimal.prefix(16))
        return try folder.place(path, of: source, digest: digest, identifier: random.identifier())
    }

    private func makeOutput() throws -> Output {
        try ScratchDatabase.makeFolder(at: (path as NSString).deletingLastPathComponent)
        // A file of an interrupted run may have any permissions.
        unlink(path)
        let descriptor = Foundation.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        return Output(file: file, writer: try BodyFileWriter(file, compresses: !isForBlockedRun))
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
            waiting = []
        }
    }
}
