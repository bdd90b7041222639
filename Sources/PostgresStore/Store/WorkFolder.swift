import FeedModel
import Foundation

/// The folder of one store's scratch files, among those of other processes. A locked file in it shows that its
/// process lives, even if the process is suspended, so that no other process removes it.
final class WorkFolder: Sendable {
    /// The folder of all such folders on this machine.
    let parent: String
    let path: String
    /// The locked file's descriptor; nil as long as nothing needs the folder.
    private let lock = Mutex<Int32?>(nil)

    init(_ name: String, in parent: String) {
        self.parent = parent
        path = parent + "/" + name
    }

    deinit { remove() }

    /// Creates the folder, unless it has been.
    ///
    /// - Throws: ``StoreError``
    func make() throws {
        try lock.withLock { lock in
            guard lock == nil else { return }
            try Self.whileLocked(parent) {
                try FileManager.default.createDirectory(
                    atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
                lock = try Self.lock(Self.lockPath(path), waits: true)
            }
        }
    }

    func remove() {
        lock.withLock { lock in
            guard let descriptor = lock.take() else { return }
            // What cannot be removed now is abandoned, and goes when the next process looks.
            try? FileManager.default.removeItem(atPath: path)
            close(descriptor)
        }
    }

    /// Removes the folders of processes that are gone.
    ///
    /// - Throws: ``StoreError``
    static func removeAbandoned(in parent: String) throws {
        guard FileManager.default.fileExists(atPath: parent) else { return }
        try whileLocked(parent) {
            for name in (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? [] {
                let path = parent + "/" + name
                guard FileManager.default.fileExists(atPath: lockPath(path)),
                    let descriptor = try lock(lockPath(path), waits: false)
                else { continue }
                try? FileManager.default.removeItem(atPath: path)
                close(descriptor)
            }
        }
    }

    private static func lockPath(_ folder: String) -> String { folder + "/lock" }

    /// Runs a body while no other process creates or removes folders.
    private static func whileLocked(_ parent: String, _ body: () throws -> Void) throws {
        do {
            try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        } catch {
            throw StoreError(
                .unavailable,
                "the folder \(parent) cannot be created: \(error.localizedDescription) "
                    + "Set [store] work to a folder that may be written")
        }
        let descriptor = try lock(parent + "/.lock", waits: true)
        defer { descriptor.map { _ = close($0) } }
        try body()
    }

    /// - Returns: the locked file's descriptor; nil if another process has locked it, and is not waited for.
    private static func lock(_ path: String, waits: Bool) throws -> Int32? {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw StoreError(.unavailable, "the file \(path) cannot be opened: \(String(cString: strerror(errno)))")
        }
        while flock(descriptor, LOCK_EX | (waits ? 0 : LOCK_NB)) != 0 {
            if errno == EINTR { continue }
            let code = errno
            close(descriptor)
            if code == EWOULDBLOCK { return nil }
            throw StoreError(.unavailable, "the file \(path) cannot be locked: \(String(cString: strerror(code)))")
        }
        return descriptor
    }
}
