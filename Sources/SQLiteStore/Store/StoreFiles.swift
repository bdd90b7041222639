import FeedModel
import Foundation

/// The files of an open store. If one of them is removed or replaced by another file, further writes are lost.
struct StoreFiles: Sendable {
    private struct File: Sendable {
        var path: String
        var identity: Identity?
    }

    private struct Identity: Sendable, Equatable {
        var device: UInt64
        var number: UInt64

        /// Returns nil if the file does not exist, or its status cannot be read.
        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            device = UInt64(truncatingIfNeeded: status.st_dev)
            number = UInt64(truncatingIfNeeded: status.st_ino)
        }
    }

    private let store: File
    private let companions: [File]

    /// - Parameters:
    ///   - path: the store's path, as configured.
    ///   - resolved: the path as SQLite opened it, without symbolic links. Beside it are the write-ahead log and its
    ///     index (wal.html, section 2.2), which exist while a connection is open.
    init(path: String, resolved: String) {
        store = File(path: path, identity: Identity(path))
        companions = [resolved + "-wal", resolved + "-shm"].map { File(path: $0, identity: Identity($0)) }
            .filter { $0.identity != nil }
    }

    /// Checks that the store's own file has not been removed or replaced.
    func checkStore() throws { try check(store) }

    /// Checks that all of the files are in their place.
    ///
    /// - Throws: ``StoreError`` naming the file that is not.
    func check() throws {
        try check(store)
        for file in companions { try check(file) }
    }

    private func check(_ file: File) throws {
        let found = Identity(file.path)
        if let found, found == file.identity { return }
        throw StoreError(
            .replaced,
            "the store \(store.path) cannot be used any more: its file \(file.path) "
                + (found == nil ? "is gone" : "has been replaced by another one")
                + " since it was opened, and what is written now would be lost; put the store in its place and start again"
        )
    }
}
