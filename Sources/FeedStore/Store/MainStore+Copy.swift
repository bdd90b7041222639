import Foundation
import GRDB

extension MainStore {
    /// Copies the store as it is at one moment into another file, by SQLite's backup interface (backup.html). Commits go on
    /// meanwhile.
    package func copy(to path: String) throws {
        let copy = try DatabaseQueue(path: path)
        try pool.backup(to: copy)
        try copy.close()
    }

    /// Makes a file that is a whole copy of the store, or leaves what was there.
    ///
    /// - Parameter replacing: whether a file of this name is replaced.
    /// - Returns: its size in bytes.
    /// - Throws: ``StoreError`` naming the file.
    package func backUp(to path: String, replacing: Bool) throws -> Int {
        let failure = { (why: String) in StoreError(.unavailable, "\(path): the copy cannot be written: \(why)") }
        let partial = path + ".partial-\(ProcessInfo.processInfo.processIdentifier)"
        defer { unlink(partial) }
        do {
            try copy(to: partial)
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
        // Unlike `rename`, `link` never replaces a file (link(2)).
        guard (replacing ? rename(partial, path) : link(partial, path)) == 0 else {
            throw failure(String(cString: strerror(errno)))
        }
        return Int(size)
    }
}
