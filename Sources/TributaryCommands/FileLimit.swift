import Foundation

/// How many files and connections this process may have open.
enum FileLimit {
    /// More than a thousand connections, which as many runs may wait for, and the files of their rows and bodies. The usual
    /// limit of 1,024 is for programs that use select(2).
    private static let wanted: UInt = 65_536

    /// Raises the limit as far as this user may (setrlimit(2)). It stays as it is where it cannot be raised.
    static func raise() {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return }
        let most = min(UInt(limit.rlim_max), wanted)
        guard UInt(limit.rlim_cur) < most else { return }
        limit.rlim_cur = rlim_t(most)
        setrlimit(resource, &limit)
    }
}
