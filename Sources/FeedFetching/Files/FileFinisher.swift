import FeedConfiguration
import FeedModel
import Foundation

/// Deletes or moves files of a folder of this machine after their commit. Links are not followed below the folder.
struct FileFinisher {
    let action: FileAction
    /// The folder that the address names, as messages write it.
    let path: String
    /// The folder's descriptor.
    let root: Int32

    /// - Parameter file: a file as it was listed.
    /// - Throws: ``FetchError`` if the system refuses.
    func finish(_ file: FolderListing.File) throws {
        do {
            try act(on: file)
        } catch {
            let error = error as? FetchError ?? FetchError(.file, ErrorText.words(error))
            throw error.on(action.failure(on: "the file '\(file.name)' of \(path)"))
        }
    }

    private func act(on file: FolderListing.File) throws {
        let (folder, name) = FolderListing.place(of: file.path, in: root)
        guard folder >= 0 else {
            // The folder is gone, and the file with it.
            if [ENOENT, ENOTDIR, ELOOP].contains(errno) { return }
            throw Self.failure
        }
        defer { close(folder) }
        var status = stat()
        guard name.withCName({ fstatat(folder, $0, &status, AT_SYMLINK_NOFOLLOW) }) == 0 else {
            if errno == ENOENT { return }
            throw Self.failure
        }
        guard file.isSame(as: status) else { return }
        switch action {
        case .delete:
            try remove(name, of: folder)
        case .move(let target):
            let inner = try self.target(target, below: file)
            defer { close(inner) }
            // A move within one folder would find the file itself in its place.
            guard !Self.isSameFolder(folder, inner) else {
                throw FetchError(.file, "it is in that folder", advice: "name another folder")
            }
            for name in [(name, name), (name, SourceFiles.otherName(name, modified: file.modified.tv_sec))]
            where try move(file, name.0, of: folder, to: name.1, in: inner) { return }
            throw SourceFiles.taken
        }
    }

    /// Opens the folder to which a file is moved, and makes it and the file's own folders in it.
    private func target(_ target: String, below file: FolderListing.File) throws -> Int32 {
        var folder = target.hasPrefix("/") ? open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : dup(root)
        let declared = target.utf8.split(separator: UInt8(ascii: "/")).map { (name: Array($0), follows: true) }
        let own = file.path.split(separator: UInt8(ascii: "/")).dropLast().map { (name: Array($0), follows: false) }
        for part in declared + own where folder >= 0 {
            let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (part.follows ? 0 : O_NOFOLLOW)
            let inner = part.name.withCName { name in
                mkdirat(folder, name, 0o777) == 0 || errno == EEXIST ? openat(folder, name, flags) : -1
            }
            let reason = errno
            close(folder)
            errno = reason
            folder = inner
        }
        guard folder >= 0 else { throw Self.failure }
        return folder
    }

    /// Moves a file without replacing another one: a link with the new name is made, and the old name removed.
    ///
    /// - Returns: false if the name is taken.
    private func move(
        _ file: FolderListing.File, _ name: [UInt8], of folder: Int32, to other: [UInt8], in target: Int32
    ) throws -> Bool {
        let result = name.withCName { name in other.withCName { linkat(folder, name, target, $0, 0) } }
        guard result == 0 || Self.isSameFile(name, folder, other, target) else {
            switch errno {
            case EEXIST: return false
            case ENOENT: return true
            case EXDEV: return try copy(file, name, of: folder, to: other, in: target)
            case EPERM, ENOTSUP, EMLINK: return try rename(name, of: folder, to: other, in: target)
            default: throw Self.failure
            }
        }
        var status = stat()
        guard other.withCName({ fstatat(target, $0, &status, AT_SYMLINK_NOFOLLOW) }) == 0, file.isSame(as: status)
        else {
            // It has changed meanwhile, and stays.
            guard other.withCName({ unlinkat(target, $0, 0) }) == 0 || errno == ENOENT else { throw Self.failure }
            return true
        }
        try remove(name, of: folder)
        return true
    }

    private func remove(_ name: [UInt8], of folder: Int32) throws {
        guard name.withCName({ unlinkat(folder, $0, 0) }) == 0 || errno == ENOENT else { throw Self.failure }
    }

    private static func isSameFolder(_ one: Int32, _ other: Int32) -> Bool {
        var (first, second) = (stat(), stat())
        return fstat(one, &first) == 0 && fstat(other, &second) == 0 && first.st_ino == second.st_ino
            && first.st_dev == second.st_dev
    }

    /// Returns true if both names are of one file, as after a move that was cut off.
    private static func isSameFile(_ name: [UInt8], _ folder: Int32, _ other: [UInt8], _ target: Int32) -> Bool {
        let reason = errno
        defer { errno = reason }
        var (old, new) = (stat(), stat())
        return reason == EEXIST && name.withCName { fstatat(folder, $0, &old, AT_SYMLINK_NOFOLLOW) } == 0
            && other.withCName { fstatat(target, $0, &new, AT_SYMLINK_NOFOLLOW) } == 0
            && old.st_ino == new.st_ino && old.st_dev == new.st_dev
    }

    /// Renames a file where the file system, or the owner of the file, permits no link.
    ///
    /// - Returns: false if the name is taken.
    private func rename(_ name: [UInt8], of folder: Int32, to other: [UInt8], in target: Int32) throws -> Bool {
        var status = stat()
        guard other.withCName({ fstatat(target, $0, &status, AT_SYMLINK_NOFOLLOW) }) != 0 else { return false }
        let result = name.withCName { name in other.withCName { renameat(folder, name, target, $0) } }
        guard result == 0 || errno == ENOENT else { throw Self.failure }
        return true
    }

    /// Copies a file to another file system under a name that begins with a dot, renames the copy, and deletes the file if it
    /// is still the same.
    ///
    /// - Returns: false if the name is taken.
    private func copy(
        _ file: FolderListing.File, _ name: [UInt8], of folder: Int32, to other: [UInt8], in target: Int32
    ) throws -> Bool {
        let source = name.withCName { openat(folder, $0, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY) }
        guard source >= 0 else { throw Self.failure }
        defer { close(source) }
        let draft = Array(".tributary-\(file.inode)".utf8)
        // One of an earlier attempt.
        _ = draft.withCName { unlinkat(target, $0, 0) }
        let copy = draft.withCName { openat(target, $0, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600) }
        guard copy >= 0 else { throw Self.failure }
        defer {
            close(copy)
            _ = draft.withCName { unlinkat(target, $0, 0) }
        }
        let (reader, writer) = (FileHandle(fileDescriptor: source), FileHandle(fileDescriptor: copy))
        var status = stat()
        while let piece = try reader.read(upToCount: 256 << 10), !piece.isEmpty {
            try writer.write(contentsOf: piece)
        }
        guard fstat(source, &status) == 0 else { throw Self.failure }
        guard file.isSame(as: status) else { return true }
        fchmod(copy, status.st_mode & 0o777)
        let times = [status.modification, status.modification]
        guard futimens(copy, times) == 0, fsync(copy) == 0 else { throw Self.failure }
        let result = draft.withCName { draft in other.withCName { linkat(target, draft, target, $0, 0) } }
        switch result == 0 ? 0 : errno {
        case 0: break
        case EEXIST: return false
        case EPERM, ENOTSUP, EMLINK:
            guard try rename(draft, of: target, to: other, in: target) else { return false }
        default: throw Self.failure
        }
        guard fsync(target) == 0 else { throw Self.failure }
        try remove(name, of: folder)
        return true
    }

    /// The error with the system's reason.
    private static var failure: FetchError { FetchError(.file, String(cString: strerror(errno))) }
}
