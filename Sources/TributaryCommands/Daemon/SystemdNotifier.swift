import Foundation

/// Tells systemd the service's state, with datagrams to the socket named in `NOTIFY_SOCKET` (sd_notify(3)). Does
/// nothing without that socket.
struct SystemdNotifier: Sendable {
    private let socketPath: String?
    /// The interval between signs of life to the watchdog: half of `WATCHDOG_USEC` (sd_watchdog_enabled(3)).
    let watchdogInterval: Duration?

    init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        socketPath = environment["NOTIFY_SOCKET"].flatMap { $0.isEmpty ? nil : $0 }
        let isOurs = environment["WATCHDOG_PID"].map { $0 == String(getpid()) } ?? true
        watchdogInterval = isOurs ? environment["WATCHDOG_USEC"].flatMap { Int($0) }.map { .microseconds($0 / 2) } : nil
    }

    func ready(status: String) { notify("READY=1\nSTATUS=\(status)") }

    /// Announces a reload. `MONOTONIC_USEC` lets systemd match the readiness that follows with this reload
    /// (Type=notify-reload).
    func reloading() {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        notify("RELOADING=1\nMONOTONIC_USEC=\(time.tv_sec * 1_000_000 + time.tv_nsec / 1000)")
    }

    func status(_ text: String, mayBeLost: Bool = false) { notify("STATUS=\(text)", mayBeLost: mayBeLost) }

    /// Notifies the watchdog that the daemon is alive.
    func isAlive() { notify("WATCHDOG=1", mayBeLost: true) }

    /// - Parameter mayBeLost: true for a message that is repeated soon; it is sent without waiting.
    func notify(_ message: String, mayBeLost: Bool = false) {
        guard let socketPath else { return }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var path = Array(socketPath.utf8)
        // An abstract socket's name begins with a zero byte, which systemd writes as '@'.
        if path.first == UInt8(ascii: "@") { path[0] = 0 }
        guard path.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + path.count)
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        // A reader that has stopped must not stop this process, too.
        var timeLimit = timeval(tv_sec: 1, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeLimit, socklen_t(MemoryLayout<timeval>.size))
        let bytes = Array(message.utf8)
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                let flags = Int32(MSG_NOSIGNAL) | (mayBeLost ? Int32(MSG_DONTWAIT) : 0)
                _ = sendto(descriptor, bytes, bytes.count, flags, address, length)
            }
        }
    }
}
