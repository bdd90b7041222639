package import FeedConfiguration
package import FeedModel
import Foundation

/// Fetches `file:` URLs. Modification time and size are the validators; an unchanged file answers 304. The files of a
/// folder are one archive, whose validator is a digest of their names, times and sizes.
package struct FileFetcher: Fetcher {
    let now: @Sendable () -> Date

    package func fetch(
        _ request: PreparedRequest, _ context: ExchangeContext, validators: Validators, movedTo: String?
    ) async throws -> Exchange {
        context.clock?.isOpening()
        // The file may be of a server that does not answer.
        return try await BlockingWork.run { try open(request, validators, $0) }
    }

    private func open(
        _ request: PreparedRequest, _ validators: Validators, _ cancellation: BlockingWork.Cancellation
    ) throws -> Exchange {
        do {
            guard case .file(let address) = request.target else {
                throw FetchError(.address, "\(request.url) cannot be used: it is not a file: URL")
            }
            let pattern = address.pattern ?? (Self.isFolder(address.path) ? request.documents : nil)
            if let pattern { return try open(request, address.path, pattern, validators, cancellation) }
            // The file is opened before its status is read, because another file may replace it in between.
            let file: RegularFile
            do throws(RegularFile.Problem) {
                file = try RegularFile(opening: address.path)
            } catch {
                guard error == .missing, request.afterCommit != nil else { throw error }
                return .gone(request, at: request.url.value, now())
            }
            let status = file.status
            let modified = status.modification
            // A deleted or moved file may be followed by another one of its size and time.
            let identity = request.afterCommit == nil ? "" : "-\(status.identity)"
            let current = Validators(
                etag: "\"\(modified.tv_sec).\(modified.tv_nsec)-\(status.st_size)\(identity)\"")
            let type = FeedResponse.mediaType(ofName: address.path).map { [(name: "Content-Type", value: $0)] }
            let response = request.answer(at: request.url.value, current, validators, headers: type ?? [], now())
            let files = request.afterCommit.map { action in
                let name = (address.path as NSString).lastPathComponent
                let file = FolderListing.File(path: Array(name.utf8), status)
                return SourceFiles(action, [file]) { _ in
                    try await BlockingWork.run { _ in try Self.finish(action, address.path, file) }
                }
            }
            let part = FilePart(
                handle: file.handle, range: 0..<UInt64(status.st_size), name: response.requestedURL, status: status)
            return .source(response, part, files)
        } catch let error as RegularFile.Problem {
            let advice = error == .folder ? "; for the files in it, declare documents = \"**/*.xml\"" : ""
            throw FetchError(.file, "\(request.url) \(error)\(advice)")
        }
    }

    private func open(
        _ request: PreparedRequest, _ path: String, _ pattern: MemberPattern, _ validators: Validators,
        _ cancellation: BlockingWork.Cancellation
    ) throws -> Exchange {
        let oldest = request.oldestFile(at: now())
        let folder = try FolderListing(path, pattern: pattern, oldest: oldest, cancellation)
        if try request.hasNoFile(among: folder.files, pattern, folder.others) {
            return .gone(request, at: request.url.value, now())
        }
        let digest = folder.digest(tellingLaterFiles: request.afterCommit != nil)
        let current = Validators(etag: "\"\(digest)\"")
        let response = request.answer(at: request.url.value, current, validators, now())
        let files = request.afterCommit.map { action in
            SourceFiles(action, folder.files) { _ in
                try await BlockingWork.run { cancellation in
                    let finisher = FileFinisher(action: action, path: path, root: folder.root)
                    var failure: (any Error)?
                    // A file that stays does not delay the others.
                    for file in folder.files {
                        try cancellation.check()
                        do { try finisher.finish(file) } catch { failure = failure ?? error }
                    }
                    if let failure { throw failure }
                }
            }
        }
        return .source(response, FolderArchive(folder), files)
    }

    /// - Parameter file: the file as it was read.
    private static func finish(_ action: FileAction, _ path: String, _ file: FolderListing.File) throws {
        let folder = (path as NSString).deletingLastPathComponent
        let root = Foundation.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK)
        guard root >= 0 else {
            throw FetchError(.file, "the folder \(folder) cannot be read: \(String(cString: strerror(errno)))")
        }
        defer { close(root) }
        var entry = stat()
        if lstat(path, &entry) == 0, entry.st_mode & S_IFMT == S_IFLNK {
            throw FetchError(
                .file, "\(path) is a link, which after_commit neither deletes nor moves",
                advice: "give the address of the file itself")
        }
        try FileFinisher(action: action, path: folder, root: root).finish(file)
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}

extension stat {
    /// The time of the last change.
    var modification: timespec {
        #if canImport(Darwin)
            st_mtimespec
        #else
            st_mtim
        #endif
    }

    /// Returns true for the status of a file with an equal size and time of the last change.
    func isUnchanged(since other: stat) -> Bool {
        let (time, former) = (modification, other.modification)
        return st_size == other.st_size && time.tv_sec == former.tv_sec && time.tv_nsec == former.tv_nsec
    }

    /// The file's number, and the time of the last change of its name or contents, which no program can set.
    var identity: String {
        #if canImport(Darwin)
            "\(st_ino).\(st_ctimespec.tv_sec).\(st_ctimespec.tv_nsec)"
        #else
            "\(st_ino).\(st_ctim.tv_sec).\(st_ctim.tv_nsec)"
        #endif
    }
}

/// The files of a folder as a tar archive, which is generated while it is read. A file that has changed since the
/// listing ends it with an error.
struct FolderArchive: BlockingListing {
    private static let pieceSize = 256 << 10

    private let folder: FolderListing
    var files: [FolderListing.File]

    init(_ folder: FolderListing) {
        self.folder = folder
        files = folder.files
    }

    func read(
        _ file: FolderListing.File, _ check: () throws -> Void, _ consume: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        let descriptor = folder.descriptor(of: file)
        guard descriptor >= 0 else { throw failure(file, errno == ENOENT ? nil : errno) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try checkUnchanged(file, descriptor)
        var left = file.size
        while left > 0, let piece = try handle.read(upToCount: min(left, Self.pieceSize)), !piece.isEmpty {
            try check()
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

    /// - Parameter reason: the system's error number; nil if the file has changed.
    private func failure(_ file: FolderListing.File, _ reason: Int32? = nil) -> FetchError {
        if let reason {
            return FetchError(.file, "the file '\(file.name)' cannot be read: \(String(cString: strerror(reason)))")
        }
        return FetchError(
            .truncated,
            "the file '\(file.name)' changed while the folder was read; write new files under a name that begins with a dot, "
                + "and rename them")
    }
}
