import FeedModel
import Foundation
package import GRDB

/// The file that takes a run's rows once they are more than memory should hold. It lies beside the store, is created
/// when it is first needed, and is removed when the run has ended.
package final class ScratchDatabase: Sendable {
    private let source: String
    private let store: any StagingStore
    private let state = Mutex(State())

    private struct State {
        var database: DatabaseQueue?
        var isInterrupted = false
    }

    init(of source: String, in store: any StagingStore) {
        self.source = source
        self.store = store
    }

    var path: String { Self.path(of: source, in: store.workFolder) }

    private static let suffix = ".scratch"

    package static func path(of source: String, in folder: String) -> String {
        folder + "/" + SourceFileName.name(of: source) + suffix
    }

    /// Returns the fingerprint of the source to which a file belongs; nil for other files.
    package static func fingerprint(of file: String) -> UInt64? {
        file.hasSuffix(suffix) ? SourceFileName.fingerprint(of: file.dropLast(suffix.count)) : nil
    }

    /// Creates the file.
    ///
    /// - Parameters:
    ///   - statements: create its tables.
    ///   - cache: the most bytes of its pages in memory.
    /// - Throws: ``StoreError`` if the file cannot be made; `CancellationError` where it was interrupted before.
    func open(_ statements: [String], cache: Int) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "worker"
        configuration.foreignKeysEnabled = false
        configuration.readonly = false
        configuration.prepareDatabase { db in
            // A journal in memory would hold a copy of each staged page that is changed later.
            try db.execute(
                sql: """
                    PRAGMA page_size = 8192; PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = OFF;
                    PRAGMA cache_size = -\(cache >> 10)
                    """)
        }
        let path = path
        do {
            try Self.makeFolder(at: store.workFolder)
            Self.removeFile(at: path)
            try Self.makeFile(at: path)
            let queue: DatabaseQueue
            do { queue = try DatabaseQueue(path: path, configuration: configuration) } catch {
                Self.removeFile(at: path)
                throw error
            }
            let isInterrupted = state.withLock { state in
                state.database = queue
                return state.isInterrupted
            }
            if isInterrupted { throw CancellationError() }
            try queue.writeWithoutTransaction { db in for sql in statements { try db.execute(sql: sql) } }
            return queue
        } catch let error as DatabaseError {
            throw StoreError(scratch: error, path: path)
        }
    }

    /// Stops its current and all later work, from any thread.
    func interrupt() {
        state.withLock { state in
            state.isInterrupted = true
            // Under the lock, as nobody can then close it meanwhile.
            state.database?.interrupt()
        }
    }

    var isInterrupted: Bool { state.withLock(\.isInterrupted) }

    /// - Throws: `CancellationError` after an interruption, which SQLite itself forgets between two statements.
    func checkInterruption() throws {
        if isInterrupted { throw CancellationError() }
    }

    /// Closes the file, which stays for the merge.
    func close() throws {
        try state.withLock { try $0.database?.close() }
    }

    func remove() {
        let wasOpen = state.withLock { state in
            guard let queue = state.database.take() else { return false }
            // Closing fails only where it is closed already; the next run removes a file that is left.
            try? queue.close()
            return true
        }
        if wasOpen { Self.removeFile(at: path) }
    }

    /// Creates a folder for scratch files, which only its user can enter, unless there is one.
    package static func makeFolder(at path: String) throws {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    /// Creates an empty file that only its user can read. What SQLite keeps beside it has the same permissions.
    ///
    /// - Throws: ``StoreError``, also where there is a file.
    package static func makeFile(at path: String) throws {
        let descriptor = Foundation.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw StoreError(.unavailable, "the file \(path) cannot be made: \(String(cString: strerror(errno)))")
        }
        Foundation.close(descriptor)
    }

    package static func removeFile(at path: String) {
        for suffix in ["", "-journal", "-wal", "-shm"] {
            // Usually there is no such file, which is as it should be.
            try? FileManager.default.removeItem(atPath: path + suffix)
        }
    }
}

extension Database {
    /// Executes a statement that each connection prepares once.
    package func execute(cached sql: String, _ arguments: StatementArguments = StatementArguments()) throws {
        try cachedStatement(sql: sql).execute(arguments: arguments)
    }
}

/// The file in which a run keeps a request's bodies until it ends, among the scratch files.
package enum ScratchBody {
    package static let suffix = ".body"

    package static func path(of source: String, index: Int, in folder: String) -> String {
        "\(folder)/\(SourceFileName.name(of: source)).\(index)\(suffix)"
    }

    /// Returns the fingerprint of the source to which a file belongs; nil for other files.
    package static func fingerprint(of file: String) -> UInt64? {
        guard file.hasSuffix(suffix) else { return nil }
        return file.split(separator: ".").first.flatMap(SourceFileName.fingerprint)
    }
}
