import FeedDeclarations
import Foundation
import Locking
import SQLiteStore
import TributaryEngine

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The files through which the daemon of a store in a file is found and asked. `STORE-daemon` holds its process id and is
/// locked while it lives. `STORE-refresh/` takes the names of sources to refresh, in a file for each request.
final class DaemonFolder: Sendable {
    private let storePath: String
    /// Requests that were taken and could not be removed, by their files' names.
    private let taken = Mutex<Set<String>>([])

    /// - Returns: nil for a store on a server, where several daemons may run, and find each other.
    init?(_ configuration: TributaryConfiguration) {
        guard case .file(let path) = configuration.store else { return nil }
        storePath = path
    }

    private var presencePath: String { storePath + "-daemon" }
    private var requestsPath: String { storePath + "-refresh" }

    /// The daemon's claim to be the only one. The kernel releases the lock if the process dies.
    struct Presence: Sendable {
        fileprivate let descriptor: Int32
        fileprivate let path: String
        fileprivate let requestsPath: String

        func release() {
            // Stays where requests are in it, which the next daemon drops.
            rmdir(requestsPath)
            unlink(path)
            // Closed alone, the lock would last while a process is being started that has the descriptor, too.
            flock(descriptor, LOCK_UN)
            close(descriptor)
        }
    }

    /// - Throws: ``Failure`` if another daemon runs on the store.
    func claim() throws -> Presence {
        try FileManager.default.createDirectory(
            atPath: URL(fileURLWithPath: storePath).deletingLastPathComponent().path, withIntermediateDirectories: true)
        let descriptor = try lockPresence()
        ftruncate(descriptor, 0)
        let text = Array("\(getpid())\n".utf8)
        write(descriptor, text, text.count)
        // Made by whoever asks first, it would be that user's, and nothing could be removed from it.
        try? StoreMode.makeFolder(at: requestsPath, besideStore: storePath)
        _ = takeRequests()
        return Presence(descriptor: descriptor, path: presencePath, requestsPath: requestsPath)
    }

    /// Locks the file of the daemon's presence. Whoever only looks whether a daemon runs, as `status` does, has it locked for
    /// a moment, shared with others: that is waited for.
    ///
    /// - Returns: the file's descriptor.
    private func lockPresence() throws -> Int32 {
        while true {
            let descriptor = StoreMode.open(presencePath, besideStore: storePath, keepsOwner: false)
            guard descriptor >= 0 else {
                throw Failure.failed("\(presencePath) cannot be written: \(String(cString: strerror(errno)))")
            }
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 {
                if isPresence(descriptor) { return descriptor }
                // A daemon that ended meanwhile has removed this file.
            } else if flock(descriptor, LOCK_SH | LOCK_NB) != 0 {
                close(descriptor)
                let process = readProcess().map(String.init) ?? "unknown"
                throw Failure.failed("another daemon (process \(process)) runs on \(storePath); stop it first")
            }
            close(descriptor)
            usleep(1_000)
        }
    }

    private func isPresence(_ descriptor: Int32) -> Bool {
        var (opened, found) = (stat(), stat())
        return fstat(descriptor, &opened) == 0 && stat(presencePath, &found) == 0 && opened.st_ino == found.st_ino
            && opened.st_dev == found.st_dev
    }

    /// Hands names of sources to the daemon and signals it. No names mean all sources.
    ///
    /// - Returns: the daemon's process id.
    func requestRefresh(_ sources: [String]) throws -> Int32 {
        guard let process = runningProcess() else {
            throw RefreshRequest.nobody(storePath)
        }
        let manager = FileManager.default
        if !manager.fileExists(atPath: requestsPath) {
            try StoreMode.makeFolder(at: requestsPath, besideStore: storePath)
            giveToDaemon(requestsPath)
        }
        // Renamed into place, so that the daemon never reads half a request.
        let name = requestsPath + "/" + UUID().uuidString
        try Data(try JSONEncoder().encode(sources)).write(to: URL(fileURLWithPath: name + ".part"))
        giveToDaemon(name + ".part")
        try manager.moveItem(atPath: name + ".part", toPath: name + ".request")
        guard kill(process, SIGUSR1) == 0 else {
            try? manager.removeItem(atPath: name + ".request")
            throw Failure.failed("process \(process) cannot be signalled: \(String(cString: strerror(errno)))")
        }
        return process
    }

    /// Gives what root has made to the daemon's user, who is to read and to remove it.
    private func giveToDaemon(_ path: String) {
        var owner = stat()
        guard geteuid() == 0, stat(presencePath, &owner) == 0 else { return }
        chown(path, owner.st_uid, owner.st_gid)
    }

    /// True if a daemon runs on the store.
    var isDaemonRunning: Bool { runningProcess() != nil }

    /// The request behind a SIGUSR1: the sources that were handed over, or all if none were.
    enum Request: Equatable {
        case all
        case sources([String])
    }

    /// Removes and returns every request that has been handed over. One that cannot be removed is returned once.
    func takeRequests() -> Request {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: requestsPath)) ?? []
        var names: [String] = []
        var isAll = true
        for file in files.sorted() where file.hasSuffix(".request") {
            let path = requestsPath + "/" + file
            let sources = FileManager.default.contents(atPath: path).flatMap {
                try? JSONDecoder().decode([String].self, from: $0)
            }
            guard let sources else {
                try? FileManager.default.removeItem(atPath: path)
                continue
            }
            if unlink(path) != 0 {
                // If the file is gone, an earlier signal has taken it.
                guard errno != ENOENT, taken.withLock({ $0.insert(file).inserted }) else { continue }
            }
            if sources.isEmpty { return .all }
            isAll = false
            names += sources
        }
        return isAll ? .all : .sources(names)
    }

    private func readProcess() -> Int32? {
        FileManager.default.contents(atPath: presencePath)
            .flatMap { Int32(String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)) }
    }

    /// Returns the id of the process that holds the lock.
    private func runningProcess() -> Int32? {
        let descriptor = open(presencePath, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_SH | LOCK_NB) != 0 else { return nil }
        return readProcess()
    }
}
