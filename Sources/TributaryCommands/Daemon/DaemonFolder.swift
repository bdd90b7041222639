import FeedDeclarations
import Foundation
import TributaryEngine

/// The files through which the daemon of a store in a file is found and asked. `STORE-daemon` holds its process id and is
/// locked while it lives. `STORE-refresh/` takes the names of sources to refresh, in a file for each request.
struct DaemonFolder: Sendable {
    private let storePath: String

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

        func release() {
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
        let descriptor = open(presencePath, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw Failure.failed("\(presencePath) cannot be written: \(String(cString: strerror(errno)))")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw Failure.failed(
                "another daemon (process \(readProcess().map(String.init) ?? "unknown")) runs on \(storePath)")
        }
        ftruncate(descriptor, 0)
        let text = Array("\(getpid())\n".utf8)
        write(descriptor, text, text.count)
        _ = takeRequests()
        return Presence(descriptor: descriptor, path: presencePath)
    }

    /// Hands names of sources to the daemon and signals it. No names mean all sources.
    ///
    /// - Returns: the daemon's process id.
    func requestRefresh(_ sources: [String]) throws -> Int32 {
        guard let process = runningProcess() else {
            throw RefreshRequest.nobody(storePath)
        }
        let manager = FileManager.default
        try manager.createDirectory(atPath: requestsPath, withIntermediateDirectories: true)
        // Renamed into place, so that the daemon never reads half a request.
        let name = requestsPath + "/" + UUID().uuidString
        try Data(try JSONEncoder().encode(sources)).write(to: URL(fileURLWithPath: name + ".part"))
        try manager.moveItem(atPath: name + ".part", toPath: name + ".request")
        guard kill(process, SIGUSR1) == 0 else {
            try? manager.removeItem(atPath: name + ".request")
            throw Failure.failed("process \(process) cannot be signalled: \(String(cString: strerror(errno)))")
        }
        return process
    }

    /// True if a daemon runs on the store.
    var isDaemonRunning: Bool { runningProcess() != nil }

    /// The request behind a SIGUSR1: the sources that were handed over, or all if none were.
    enum Request: Equatable {
        case all
        case sources([String])
    }

    /// Removes and returns every request that has been handed over.
    func takeRequests() -> Request {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: requestsPath)) ?? []
        var names: [String] = []
        var isAll = true
        for file in files.sorted() where file.hasSuffix(".request") {
            let path = requestsPath + "/" + file
            let sources = FileManager.default.contents(atPath: path).flatMap {
                try? JSONDecoder().decode([String].self, from: $0)
            }
            // If the file is gone, an earlier signal has taken it.
            guard (try? FileManager.default.removeItem(atPath: path)) != nil, let sources else { continue }
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
