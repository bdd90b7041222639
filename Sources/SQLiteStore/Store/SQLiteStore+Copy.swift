import FeedModel
import Foundation
import GRDB

extension SQLiteStore {
    /// Copies the store's state at one moment into another file, by SQLite's backup interface (backup.html). Commits go
    /// on meanwhile. The copy has every table, whichever are asked for.
    package func copy(_ tables: [String]?, to path: String) throws {
        // Made by SQLite, everybody could read the copy of a private store.
        guard StoreMode.makeFile(at: path, besideStore: self.path, keepsOwner: false) else {
            throw DatabaseError(resultCode: .SQLITE_CANTOPEN, message: String(cString: strerror(errno)))
        }
        let copy = try DatabaseQueue(path: path)
        try pool.backup(to: copy)
        // A copy that is only read leaves no files beside it.
        try copy.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = DELETE") }
        try copy.close()
    }

    /// Returns true for the store's file and for files that SQLite or Tributary keeps beside it, which are named after
    /// it.
    package func isOwn(_ path: String) -> Bool {
        func resolved(_ path: String) -> URL {
            let url = URL(fileURLWithPath: path).standardizedFileURL
            let folder = url.deletingLastPathComponent().resolvingSymlinksInPath()
            return folder.appendingPathComponent(url.lastPathComponent)
        }
        let own = URL(fileURLWithPath: self.path).resolvingSymlinksInPath()
        let file = resolved(path)
        let target = URL(fileURLWithPath: path).resolvingSymlinksInPath()
        let isBeside = file.deletingLastPathComponent().path == own.deletingLastPathComponent().path
        let suffixes = ["", "-wal", "-shm", "-journal", "-lock", "-daemon", "-work", "-bodies"]
        return target.path == own.path
            || isBeside && suffixes.contains { file.lastPathComponent == own.lastPathComponent + $0 }
            || ["-work/", "-bodies/"].contains { target.path.hasPrefix(own.path + $0) }
    }

    /// Creates a complete copy of the store, or leaves an existing file unchanged.
    ///
    /// - Parameter replacing: true to replace an existing file.
    /// - Returns: the size of the copy in bytes.
    /// - Throws: ``StoreError`` naming the file.
    package func backUp(to path: String, replacing: Bool) throws -> Int {
        guard !isOwn(path) else {
            throw StoreError(.unavailable, "\(path) is the store's own file; a copy needs a name of its own")
        }
        let failure = { (why: String) in StoreError(.unavailable, "\(path): the copy cannot be written: \(why)") }
        let partial = path + ".partial-\(ProcessInfo.processInfo.processIdentifier)"
        defer { unlink(partial) }
        do {
            try copy(nil, to: partial)
        } catch let error as DatabaseError {
            throw failure(error.message ?? error.description)
        }
        let size: UInt64
        do {
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: partial))
            size = try file.seekToEnd()
            try file.synchronize()
            try file.close()
        } catch {
            throw failure(error.localizedDescription)
        }
        var status = stat()
        if lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            throw failure("it is not a regular file")
        }
        if let log = ["-wal", "-journal"].first(where: { FileManager.default.fileExists(atPath: path + $0) }) {
            throw failure("\(path)\(log) is beside it, and would be taken for the copy's")
        }
        // Unlike `rename`, `link` never replaces a file (link(2)).
        guard (replacing ? rename(partial, path) : link(partial, path)) == 0 else {
            throw failure(String(cString: strerror(errno)))
        }
        syncFolder(of: path)
        return Int(size)
    }
}

/// Makes a file's name survive a power failure, if the file system can sync its folder.
func syncFolder(of path: String) {
    let folder = open(URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
    guard folder >= 0 else { return }
    fsync(folder)
    close(folder)
}
