import FeedConfiguration
import FeedModel
import Foundation
import SQLiteStore
import TributaryEngine

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The files through which the daemon of a store in a file is found and asked. `STORE-daemon` holds its process id and is
/// locked while it lives; `restore` locks it, too, and adds its name. `STORE-messages/` takes the messages of other processes,
/// each in a file. SIGUSR2 makes the daemon read them.
final class DaemonFolder: Sendable {
    /// What another process asks of the daemon, or tells it.
    enum Message: Codable, Equatable {
        /// Sources to refresh now; none mean all.
        case refresh([String])
        /// Sources that the other process has run.
        case ran([String])
    }

    private let storePath: String
    /// Messages that were taken and could not be removed, by their files' names.
    private let taken = Mutex<Set<String>>([])

    /// - Returns: nil for a store on a server, where several daemons may run, and find each other.
    init?(_ configuration: TributaryConfiguration) {
        guard case .file(let path) = configuration.store else { return nil }
        storePath = path
    }

    private var presencePath: String { storePath + "-daemon" }
    private var messagesPath: String { storePath + "-messages" }

    /// The process that has the store to itself.
    struct Holder: Sendable, Equatable, CustomStringConvertible {
        var process: Int32?
        /// The command that it runs; nil for a daemon.
        var command: String?

        var isDaemon: Bool { command == nil }

        var description: String {
            let process = self.process.map(String.init) ?? "unknown"
            return command.map { "`\($0)` (process \(process))" } ?? "a daemon (process \(process))"
        }

        /// Reads `PID` of a daemon, or `PID COMMAND`.
        fileprivate init(_ text: String) {
            let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
            process = words.first.flatMap { Int32($0) }
            command = words.count > 1 ? words[1] : nil
        }
    }

    /// The claim of a daemon, or of a command, to have the store to itself. The kernel releases the lock if the process
    /// dies.
    struct Presence: Sendable {
        fileprivate let descriptor: Int32
        fileprivate let path: String
        fileprivate let messagesPath: String

        func release() {
            // Stays where messages are in it, which the next daemon drops.
            rmdir(messagesPath)
            unlink(path)
            // Closed alone, the lock would last while a process is being started that has the descriptor, too.
            flock(descriptor, LOCK_UN)
            close(descriptor)
        }
    }

    /// - Parameter command: the command that claims the store; nil for a daemon.
    /// - Throws: ``Failure`` if another process has the store. `StoreError` if a daemon's folder does not exist: a mistyped
    ///   path makes no second store.
    func claim(for command: String? = nil) throws -> Presence {
        if command == nil {
            if let missing = StoreError(folderOf: storePath) { throw missing }
        } else {
            try FileManager.default.createDirectory(
                atPath: URL(fileURLWithPath: storePath).deletingLastPathComponent().path,
                withIntermediateDirectories: true)
        }
        let descriptor = try lockPresence()
        ftruncate(descriptor, 0)
        let text = Array("\(getpid())\(command.map { " " + $0 } ?? "")\n".utf8)
        write(descriptor, text, text.count)
        if command == nil {
            // Made by whoever asks first, it would be that user's, and nothing could be removed from it.
            try? StoreMode.makeFolder(at: messagesPath, besideStore: storePath)
            _ = takeMessages()
        }
        return Presence(descriptor: descriptor, path: presencePath, messagesPath: messagesPath)
    }

    /// Locks the file of the daemon's presence. Whoever only looks whether a daemon runs, as `status` does, has it locked for
    /// a moment, shared with others: that is waited for.
    ///
    /// - Returns: the file's descriptor.
    private func lockPresence() throws -> Int32 {
        while true {
            // The folder may be another user's, and a link of theirs lead to any file: none is followed.
            let descriptor = StoreMode.open(presencePath, besideStore: storePath, keepsOwner: false)
            guard descriptor >= 0 else {
                throw Failure.failed("\(presencePath) cannot be written: \(String(cString: strerror(errno)))")
            }
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 {
                if isPresence(descriptor) { return descriptor }
                // A daemon that ended meanwhile has removed this file.
            } else if flock(descriptor, LOCK_SH | LOCK_NB) != 0 {
                defer { close(descriptor) }
                let holder = Holder(Self.text(in: descriptor))
                let process = holder.process.map(String.init) ?? "unknown"
                throw Failure.failed(
                    holder.isDaemon
                        ? "another daemon (process \(process)) runs on \(storePath); stop it first"
                        : "\(holder) has \(storePath); wait for its end")
            }
            close(descriptor)
            usleep(1_000)
        }
    }

    private func isPresence(_ descriptor: Int32) -> Bool {
        var (opened, found) = (stat(), stat())
        return fstat(descriptor, &opened) == 0 && lstat(presencePath, &found) == 0 && opened.st_ino == found.st_ino
            && opened.st_dev == found.st_dev
    }

    /// Hands names of sources to the daemon and signals it. No names mean all sources.
    ///
    /// - Returns: the daemon's process id.
    func requestRefresh(_ sources: [String]) throws -> Int32 { try send(.refresh(sources)) }

    /// Tells the daemon that this process has run sources, so that the daemon knows when they are due. Does nothing where
    /// none runs.
    func noteRuns(of sources: [String]) throws {
        guard isDaemonRunning else { return }
        do {
            _ = try send(.ran(sources))
        } catch {
            // The next daemon reads the store.
            guard isDaemonRunning else { return }
            throw error
        }
    }

    private func send(_ message: Message) throws -> Int32 {
        guard let holder = holder() else { throw RefreshRequest.nobody(storePath) }
        guard holder.isDaemon, let process = holder.process else {
            throw Failure.failed("no daemon runs on \(storePath), which \(holder) has; wait for its end")
        }
        let name = messagesPath + "/" + UUID().uuidString
        do {
            try asDaemonsUser {
                let manager = FileManager.default
                if !manager.fileExists(atPath: messagesPath) {
                    try StoreMode.makeFolder(at: messagesPath, besideStore: storePath)
                }
                // Renamed into place, so that the daemon never reads half a message.
                try JSONEncoder().encode(message).write(
                    to: URL(fileURLWithPath: name + ".part"), options: .withoutOverwriting)
                try manager.moveItem(atPath: name + ".part", toPath: name + ".message")
            }
        } catch let failure as Failure {
            throw failure
        } catch {
            // A daemon that ends removes the folder.
            guard self.holder() == holder else { throw RefreshRequest.nobody(storePath) }
            throw Failure.failed("\(messagesPath) cannot be written: \(error.localizedDescription)")
        }
        guard kill(process, SIGUSR2) == 0 else {
            let reason = String(cString: strerror(errno))
            try? FileManager.default.removeItem(atPath: name + ".message")
            throw Failure.failed("process \(process) cannot be signalled: \(reason)")
        }
        return process
    }

    /// Runs a body with the rights of the daemon's user, if this process runs as root. That user then owns the files
    /// that the body makes, and can read and remove them. A symbolic link of that user leads to no file that the user
    /// may not write.
    private func asDaemonsUser(_ body: () throws -> Void) throws {
        var owner = stat()
        guard geteuid() == 0, lstat(presencePath, &owner) == 0, owner.st_uid != 0 else { return try body() }
        let group = getegid()
        var groups = [gid_t](repeating: 0, count: Int(max(0, getgroups(0, nil))))
        groups.removeLast(groups.count - Int(max(0, getgroups(Int32(groups.count), &groups))))
        guard setgroups(0, nil) == 0, setegid(owner.st_gid) == 0, seteuid(owner.st_uid) == 0 else {
            throw Failure.failed(
                "root cannot act as user \(owner.st_uid), whose daemon runs on \(storePath): "
                    + String(cString: strerror(errno)))
        }
        defer {
            seteuid(0)
            setegid(group)
            setgroups(groups.count, groups)
        }
        try body()
    }

    /// True if a daemon runs on the store.
    var isDaemonRunning: Bool { holder()?.isDaemon ?? false }

    /// Removes and returns every message that has been handed over; none if an earlier signal has taken it. One that cannot
    /// be removed is returned once.
    func takeMessages() -> [Message] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: messagesPath)) ?? []
        return files.sorted().filter { $0.hasSuffix(".message") }.compactMap { file in
            let path = messagesPath + "/" + file
            let message = FileManager.default.contents(atPath: path).flatMap {
                try? JSONDecoder().decode(Message.self, from: $0)
            }
            guard let message else {
                try? FileManager.default.removeItem(atPath: path)
                return nil
            }
            if unlink(path) != 0 {
                guard errno != ENOENT, taken.withLock({ $0.insert(file).inserted }) else { return nil }
            }
            return message
        }
    }

    /// Returns the process that holds the lock; nil without one.
    func holder() -> Holder? {
        let descriptor = open(presencePath, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_SH | LOCK_NB) != 0 else { return nil }
        return Holder(Self.text(in: descriptor))
    }

    private static func text(in descriptor: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
