import FeedModel
import Foundation

/// The files that a store was opened with. What is written once another file, or none, is in the place of one of them
/// reaches nobody.
struct StoreFiles: Sendable {
    private struct File: Sendable {
        var path: String
        var identity: Identity?
    }

    private struct Identity: Sendable, Equatable {
        var device: UInt64
        var number: UInt64

        /// Nil where there is no such file, or it cannot be seen.
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
    ///   - path: the store's, as it is configured.
    ///   - resolved: the same as SQLite opened it, without symbolic links: beside it lie its write-ahead log, and the index
    ///     of that (wal.html, section 2.2), which stay for as long as a connection is open.
    init(path: String, resolved: String) {
        store = File(path: path, identity: Identity(path))
        companions = [resolved + "-wal", resolved + "-shm"].map { File(path: $0, identity: Identity($0)) }
            .filter { $0.identity != nil }
    }

    /// Looks whether the store's own file is in its place.
    func checkStore() throws { try check(store) }

    /// Looks whether all of them are.
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
