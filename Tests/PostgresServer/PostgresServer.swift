import Foundation
import PostgresStore
import Synchronization

/// A PostgreSQL of the tests' own: a fresh cluster in a short folder, listening on a Unix socket there, stopped and removed when
/// the tests end or are killed. It writes nothing to disk on purpose (`fsync=off`).
package final class PostgresServer: Sendable {
    package struct Options: Sendable {
        /// Lines of postgresql.conf, which stand above the others.
        package var settings: [String] = []
        /// Lines of pg_hba.conf, which stand above the others.
        package var access: [String] = []
        /// Also on 127.0.0.1, on a port that was free.
        package var listensOnTCP = false
        /// With ``ServerCertificate``; on TCP only.
        package var hasTLS = false
        package var encoding = "UTF8"
        /// The server that this one is a copy of, and follows as a standby by streaming replication.
        package var primary: PostgresServer?

        package init() {}
    }

    package enum Stop: Sendable {
        /// Rolls back what runs, and ends in order.
        case fast
        /// As a crash: connections end without a word.
        case immediate
    }

    /// False where PostgreSQL is not installed; tests are skipped then.
    package static var isAvailable: Bool { ServerProgram.folder != nil }

    /// The folder of the socket.
    package let folder: String
    private let options: Options
    private let watcher: Watcher
    /// The TCP port, and the socket's.
    private let currentPort = Mutex(5432)
    private let process = Mutex<ChildProcess?>(nil)
    let databases = Atomic(0)

    package init(_ options: Options = Options()) throws {
        self.options = options
        folder = try ServerProgram.makeFolder()
        let program = (ServerProgram.userPrefix + ["\(ServerProgram.folder ?? "")/pg_ctl"]).joined(separator: " ")
        watcher = try Watcher(end: Self.cleaning, arguments: [folder, program], log: "\(folder)/watcher.log")
        do {
            try makeCluster()
            try start()
            if options.primary == nil { try connect().execute("CREATE ROLE needs_password NOLOGIN") }
        } catch {
            remove()
            throw error
        }
    }

    /// `$1` is the folder, `$2` is pg_ctl. The process id may be another's by now, so its folder is looked at. A server that is
    /// stopped by SIGSTOP takes no other signal; one that was killed leaves a segment of shared memory.
    private static let cleaning = """
        file="$1/data/postmaster.pid"
        pid=$(head -n 1 "$file" 2> /dev/null)
        if [ -n "$pid" ] && [ "$(readlink "/proc/$pid/cwd")" = "$1/data" ]; then
            children=$(cat "/proc/$pid/task/$pid/children")
            kill -CONT $pid $children
            $2 stop -D "$1/data" -m immediate -t 20 || kill -KILL $pid $children
        fi
        segment=$(sed -n 7p "$file" 2> /dev/null | awk '{ print $2 }')
        [ -z "$segment" ] || ipcrm -m "$segment"
        if mountpoint -q "$1/small"; then umount -l "$1/small"; fi
        rm -rf "$1"
        """

    /// Stops the server and removes all that was its. Nothing happens the second time.
    package func remove() {
        watcher.finish()
        process.withLock { process in
            process?.waitUntilExit()
            process = nil
        }
    }

    package var port: Int { currentPort.withLock { $0 } }
    package var log: String { (try? String(contentsOfFile: "\(folder)/server.log", encoding: .utf8)) ?? "" }
    var data: String { "\(folder)/data" }
    var programLog: String { "\(folder)/programs.log" }

    // MARK: - Life

    /// Returns when the server takes connections.
    package func start() throws {
        // Between choosing a free port and listening on it, another process may take it.
        for attempt in 1...5 {
            if options.listensOnTCP && attempt > 1 { currentPort.withLock { $0 = Self.freePort() } }
            let program = "\(ServerProgram.folder ?? "")/postgres"
            let started = try ServerProgram.start(
                ServerProgram.userPrefix + [program, "-D", data, "-p", "\(port)"], log: "\(folder)/server.log")
            if try takesConnections(started) { return process.withLock { $0 = started } }
            guard options.listensOnTCP, log.contains("Address already in use") else { break }
        }
        throw ServerProgram.Failure(description: "PostgreSQL does not start\n\(log.suffix(2000))")
    }

    /// Tries to connect until it succeeds.
    ///
    /// - Returns: false where the server has ended.
    private func takesConnections(_ started: ChildProcess) throws -> Bool {
        let deadline = ContinuousClock.now + .seconds(60)
        while true {
            do {
                _ = try connect()
                return true
            } catch {
                if started.hasExited() { return false }
                guard ContinuousClock.now < deadline else { throw error }
                usleep(5000)
            }
        }
    }

    /// Returns when the server has ended.
    package func stop(_ mode: Stop = .fast) throws {
        process.withLock { process in
            process?.signal(mode == .fast ? SIGINT : SIGQUIT)
            process?.waitUntilExit()
            process = nil
        }
    }

    /// As if the machine had died: SIGKILL for every process of the server. Returns when none is left.
    package func kill() throws {
        let processes = try processes()
        try signal(SIGKILL)
        for process in processes.dropFirst() { while !Self.hasEnded(process) { usleep(1000) } }
        process.withLock { process in
            process?.waitUntilExit()
            process = nil
        }
    }

    /// The server answers nothing, and its connections stay open.
    package func pause() throws { try signal(SIGSTOP) }

    package func resume() throws { try signal(SIGCONT) }

    private func signal(_ signal: Int32) throws {
        for process in try processes() { Foundation.kill(process, signal) }
    }

    /// The server's first process, and its children.
    private func processes() throws -> [pid_t] {
        let lines = try String(contentsOfFile: "\(data)/postmaster.pid", encoding: .utf8).split(separator: "\n")
        guard let main = lines.first.flatMap({ pid_t($0) }) else { return [] }
        let children = try String(contentsOfFile: "/proc/\(main)/task/\(main)/children", encoding: .utf8)
        return [main] + children.split(separator: " ").compactMap { pid_t($0) }
    }

    /// True also for a process of whose end nobody has taken note.
    package static func hasEnded(_ process: Int32) -> Bool {
        guard let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { return true }
        return status.split(separator: ")").last?.hasPrefix(" Z") ?? true
    }

    // MARK: - Cluster

    private func makeCluster() throws {
        if let primary = options.primary {
            try copyData(of: primary)
        } else if options.encoding == "UTF8" {
            try ClusterTemplate.shared.get().copy(to: data, log: programLog)
        } else {
            try ClusterTemplate.makeCluster(data, encoding: options.encoding, log: programLog)
        }
        if options.listensOnTCP { currentPort.withLock { $0 = Self.freePort() } }
        var settings = [
            "fsync = off", "full_page_writes = off", "max_connections = 400",
            "shared_buffers = 64MB", "jit = off", "unix_socket_directories = '\(folder)'", "lc_messages = 'C'",
            // In the folder, too: a server that is killed leaves its segments behind.
            "dynamic_shared_memory_type = mmap",
            // Tests find the statements of their own database.
            "log_line_prefix = '%m [%p] %d '",
            "listen_addresses = '\(options.listensOnTCP ? "127.0.0.1" : "")'",
        ]
        if options.hasTLS {
            for (name, text) in [("server.crt", ServerCertificate.certificate), ("server.key", ServerCertificate.key)] {
                let path = "\(data)/\(name)"
                try text.write(toFile: path, atomically: false, encoding: .utf8)
                chmod(path, 0o600)
                try ServerProgram.giveToServer(path)
            }
            try ServerCertificate.certificate.write(toFile: certificateFile, atomically: false, encoding: .utf8)
            settings += ["ssl = on"]
        }
        let path = "\(data)/postgresql.conf"
        let given = try String(contentsOfFile: path, encoding: .utf8)
        let all = given + (settings + options.settings).joined(separator: "\n") + "\n"
        try all.write(toFile: path, atomically: false, encoding: .utf8)
        // Members of `needs_password` log in by password, all others without.
        let access =
            options.access + [
                "local all +needs_password scram-sha-256", "host all +needs_password 127.0.0.1/32 scram-sha-256",
                "local replication all trust", "local all all trust", "host all all 127.0.0.1/32 trust",
            ]
        try (access.joined(separator: "\n") + "\n")
            .write(toFile: "\(data)/pg_hba.conf", atomically: false, encoding: .utf8)
    }

    /// The certificate that clients trust (`sslrootcert`).
    package var certificateFile: String { "\(folder)/root.crt" }

    private static func freePort() -> Int {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = bind(listener, $0, length)
                _ = getsockname(listener, $0, &length)
            }
        }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
