import Foundation

/// A file system of four megabytes in memory, which only root can make.
package struct SmallDisk {
    package enum Fault: CaseIterable, Sendable {
        case full, readOnly

        package var words: String {
            switch self {
            case .full: "No space left on device"
            case .readOnly: "Read-only file system"
            }
        }
    }

    struct Refused: Error { var code: Int32 }

    package static var isPossible: Bool {
        guard geteuid() == 0 else { return false }
        var folder = Array("/tmp/tributary-disk-XXXXXX".utf8CString)
        guard mkdtemp(&folder) != nil else { return false }
        defer { rmdir(folder) }
        guard mount("tmpfs", folder, "tmpfs", 0, "size=4m") == 0 else { return false }
        umount(folder)
        return true
    }

    package let path: String

    package init(in folder: TemporaryFolder) throws {
        path = folder.file("disk")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try Self.check(mount("tmpfs", path, "tmpfs", 0, "size=4m"))
    }

    package func suffer(_ fault: Fault) throws {
        switch fault {
        case .full:
            let filler = open(path + "/filler", O_CREAT | O_WRONLY, 0o600)
            let bytes = [UInt8](repeating: 0, count: 4096)
            while write(filler, bytes, bytes.count) > 0 {}
            close(filler)
        case .readOnly:
            // What is open stays as it is, as it does where the kernel remounts a disk after an error of it.
            try Self.check(mount(path, path, "", UInt(MS_BIND), nil))
            try Self.check(
                mount("", path, "", UInt(MS_BIND | MS_REMOUNT | MS_RDONLY), nil))
        }
    }

    package func mend(_ fault: Fault) throws {
        switch fault {
        case .full: unlink(path + "/filler")
        case .readOnly: try Self.check(umount2(path, Int32(MNT_DETACH)))
        }
    }

    package func remove() { umount2(path, Int32(MNT_DETACH)) }

    private static func check(_ result: Int32) throws { if result != 0 { throw Refused(code: errno) } }
}
