import FeedModel
import FeedConfiguration
import Foundation

/// The files of a folder and its subfolders whose paths match a pattern, at the time of the listing.
///
/// Links are not followed. Names that begin with a dot are skipped, as a shell does: programs write files under such
/// names before they rename them.
final class FolderListing: Sendable {
    /// The most names, matching or not.
    static let limit = 100_000
    /// The most nested folders. A folder stays open while its subfolders are read.
    private static let depthLimit = 100

    struct File: ListedFile {
        /// The path relative to the folder, in the file system's bytes.
        var path: [UInt8]
        var size: Int
        var modified: timespec
        /// The file's number. Two files may have one size and time, as the clock of files moves in steps of milliseconds.
        var inode: ino_t
        /// The number, and the time at which the file came to its name, which no program can set.
        var identity: String

        init(path: [UInt8], _ status: stat) {
            self.path = path
            size = Int(status.st_size)
            modified = status.modification
            inode = status.st_ino
            identity = status.identity
        }

        var version: String { "\(size) \(modified.tv_sec).\(modified.tv_nsec) \(identity)" }

        /// The path as text, for messages and for the pattern.
        var name: String { MemberPattern.name(of: path) }

        /// Returns true if the file is unchanged.
        func isSame(as status: stat) -> Bool {
            let time = status.modification
            return RegularFile.isRegular(status) && size == Int(status.st_size) && inode == status.st_ino
                && modified.tv_sec == time.tv_sec && modified.tv_nsec == time.tv_nsec
        }
    }

    /// The folder's descriptor.
    let root: Int32
    /// The files that match, by their paths' bytes.
    let files: [File]
    /// Some names of files that do not match.
    let others: [String]

    /// - Parameter oldest: the time in seconds since 1970 before which files are omitted; nil for none.
    /// - Throws: ``FetchError`` if a folder cannot be read or has too many names; `CancellationError`.
    init(
        _ path: String, pattern: MemberPattern, oldest: Int? = nil, _ cancellation: BlockingWork.Cancellation
    ) throws {
        root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK)
        guard root >= 0 else {
            throw FetchError(.file, "the folder \(path) cannot be read: \(String(cString: strerror(errno)))")
        }
        var walk = Walk(pattern: pattern, oldest: oldest ?? .min, cancellation: cancellation)
        do {
            try walk.look(into: dup(root), path: [], depth: 0)
        } catch {
            close(root)
            throw error
        }
        files = walk.files.sorted { $0.path.lexicographicallyPrecedes($1.path) }
        others = walk.others.sorted()
    }

    deinit { close(root) }

    /// Returns a digest of the names, sizes and times of the files that match.
    ///
    /// - Parameter tells: true to tell a file from a later one of its name, size and time.
    func digest(tellingLaterFiles tells: Bool) -> String {
        var hash = SHA256()
        for file in files {
            hash.update(file.path + [0])
            hash.update(Array("\(file.size) \(file.modified.tv_sec).\(file.modified.tv_nsec)".utf8) + [0])
            if tells { hash.update(Array("\(file.identity)".utf8) + [0]) }
        }
        return hash.digest().hexadecimal
    }

    /// Opens a file without following links, and without blocking.
    ///
    /// - Returns: the descriptor; less than zero on failure.
    func descriptor(of file: File) -> Int32 {
        let (folder, name) = Self.place(of: file.path, in: root)
        guard folder >= 0 else { return folder }
        defer { close(folder) }
        return name.withCName { openat(folder, $0, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY) }
    }

    /// Opens the folder of a path without following links.
    ///
    /// - Returns: the folder's descriptor, less than zero on failure, and the last name.
    static func place(of path: [UInt8], in root: Int32) -> (folder: Int32, name: [UInt8]) {
        var folder = dup(root)
        var parts = path.split(separator: UInt8(ascii: "/")).map(Array.init)
        let name = parts.removeLast()
        for part in parts where folder >= 0 {
            let inner = part.withCName { openat(folder, $0, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
            close(folder)
            folder = inner
        }
        return (folder, name)
    }

    private struct Walk {
        let pattern: MemberPattern
        let oldest: Int
        let cancellation: BlockingWork.Cancellation
        var files: [File] = []
        var others: [String] = []
        var count = 0

        /// - Parameter descriptor: the folder's; it is closed.
        mutating func look(into descriptor: Int32, path: [UInt8], depth: Int) throws {
            guard descriptor >= 0, let folder = fdopendir(descriptor) else {
                defer { if descriptor >= 0 { close(descriptor) } }
                throw unreadable(path)
            }
            defer { closedir(folder) }
            guard depth < FolderListing.depthLimit else {
                throw FetchError(
                    .file,
                    "more than \(FolderListing.depthLimit) folders are within each other: \(MemberPattern.name(of: path))"
                )
            }
            while let name = try nextName(folder, path) {
                guard name.first != UInt8(ascii: ".") else { continue }
                count += 1
                guard count <= FolderListing.limit else {
                    throw FetchError(.tooLarge, "the folder has more than \(FolderListing.limit) names")
                }
                if count % 256 == 0 { try cancellation.check() }
                var status = stat()
                guard name.withCName({ fstatat(descriptor, $0, &status, AT_SYMLINK_NOFOLLOW) }) == 0 else {
                    // The file was removed meanwhile.
                    if errno == ENOENT { continue }
                    throw unreadable(path + name)
                }
                try take(name, status, of: descriptor, path, depth)
            }
        }

        private mutating func take(
            _ name: [UInt8], _ status: stat, of folder: Int32, _ path: [UInt8], _ depth: Int
        ) throws {
            let path = path + name
            let shown = MemberPattern.name(of: path)
            if status.st_mode & S_IFMT == S_IFDIR {
                guard pattern.mayMatch(below: shown) else { return }
                let inner = name.withCName { openat(folder, $0, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
                try look(into: inner, path: path + [UInt8(ascii: "/")], depth: depth + 1)
            } else if RegularFile.isRegular(status) {
                if pattern.matches(shown), status.modification.tv_sec >= oldest {
                    files.append(File(path: path, status))
                } else if others.count < 3 {
                    others.append(shown)
                }
            }
        }

        /// Returns the bytes of the next name in a folder; nil after the last.
        private func nextName(_ folder: OpaquePointer, _ path: [UInt8]) throws -> [UInt8]? {
            errno = 0
            guard let entry = readdir(folder) else {
                if errno != 0 { throw unreadable(path) }
                return nil
            }
            return withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
        }

        private func unreadable(_ path: [UInt8]) -> FetchError {
            let reason = String(cString: strerror(errno))
            return FetchError(.file, "'\(MemberPattern.name(of: path))' in the folder cannot be read: \(reason)")
        }
    }
}

extension [UInt8] {
    /// Calls `body` with the bytes as a name of the file system.
    func withCName<Value>(_ body: (UnsafePointer<CChar>) -> Value) -> Value {
        (self + [0]).withUnsafeBytes { body($0.assumingMemoryBound(to: CChar.self).baseAddress!) }
    }
}
