import Foundation

/// The permissions and the owner of a store's file. What the program makes beside it gets the same: a private store
/// has no file that others can read, and a store of a group none that the group cannot use.
package struct StoreMode: Sendable {
    private let permissions: mode_t
    private let owner: uid_t
    private let group: gid_t

    /// - Returns: nil if there is no store.
    package init?(ofStore path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        permissions = status.st_mode & 0o777
        owner = status.st_uid
        group = status.st_gid
    }

    /// Opens a file for reading and writing, and makes it where there is none. A link is not followed.
    ///
    /// - Parameters:
    ///   - store: the store's path. Without a store, everybody may read the file, as far as the process's mask allows.
    ///   - keepsOwner: false for a file that belongs to the user who makes it, and not to the store's owner.
    /// - Returns: the descriptor, or a negative number after an error, which `errno` tells.
    package static func open(_ path: String, besideStore store: String, keepsOwner: Bool = true) -> Int32 {
        guard let mode = StoreMode(ofStore: store) else {
            return Foundation.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o644)
        }
        while true {
            let known = Foundation.open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
            guard known < 0, errno == ENOENT else { return known }
            let new = Foundation.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            if new < 0, errno == EEXIST { continue }
            if new >= 0 { mode.apply(to: new, keepsOwner: keepsOwner) }
            return new
        }
    }

    /// Makes an empty file where there is none.
    ///
    /// - Returns: false after an error, which `errno` tells.
    static func makeFile(at path: String, besideStore store: String, keepsOwner: Bool = true) -> Bool {
        let descriptor = open(path, besideStore: store, keepsOwner: keepsOwner)
        guard descriptor >= 0 else { return false }
        return close(descriptor) == 0
    }

    /// Makes a folder, unless there is one. Everyone who may read the store may enter it.
    package static func makeFolder(at path: String, besideStore store: String) throws {
        let permissions = StoreMode(ofStore: store).map { $0.permissions | ($0.permissions & 0o444) >> 2 } ?? 0o755
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true,
            attributes: [.posixPermissions: NSNumber(value: permissions)])
    }

    /// Gives a file that this process has made the store's permissions, and its owner where the process may.
    private func apply(to descriptor: Int32, keepsOwner: Bool) {
        if keepsOwner, geteuid() == 0 { fchown(descriptor, owner, group) }
        // After fchown, which takes some bits away. It cannot fail on a file of one's own.
        fchmod(descriptor, permissions)
    }

    /// Removes those permissions of a file that the store's file lacks. The file was made when the store had others.
    package func narrow(_ path: String) {
        let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & 0o777 & ~permissions != 0 else { return }
        // Only its owner may, who opens the store as well.
        fchmod(descriptor, status.st_mode & 0o777 & permissions)
    }
}
