import Foundation

/// A server of SFTP, FTP or FTPS on a port of the loopback interface, which serves a folder until the test ends: OpenSSH's `sshd`
/// or ProFTPD, each with a configuration of its own.
package struct FileServer: Sendable {
    package enum Kind: Sendable {
        /// OpenSSH: whoever runs the tests is known by a key.
        case openSSH
        /// ProFTPD: the user `me` is known by a password.
        case ftp, ftpWithTLS, ftps, sftp
    }

    /// The password of the user `me`.
    package static let password = "open sesame 42"
    /// The passphrase of the key ``encryptedKey``.
    package static let passphrase = "a long passphrase"

    package let port: Int
    /// The folder that is served.
    package let folder: TemporaryFolder
    private let keys: TemporaryFolder

    package static var hasOpenSSH: Bool { Tool.isInstalled("sshd") && Tool.isInstalled("ssh-keygen") }
    package static var hasProFTPD: Bool {
        Tool.isInstalled("proftpd") && Tool.isInstalled("ssh-keygen")
            && FileManager.default.fileExists(atPath: "/usr/lib/proftpd/mod_tls.so")
    }

    /// The name of whoever runs the tests.
    package static let user = getpwuid(getuid()).map { String(cString: $0.pointee.pw_name) } ?? "root"

    package var privateKey: String { keys.file("user") }
    package var encryptedKey: String { keys.file("locked") }
    /// A key that the server does not know.
    package var strangersKey: String { keys.file("stranger") }

    /// Writes a file of known hosts.
    ///
    /// - Parameters:
    ///   - port: the port at which the server is known; nil for its own.
    ///   - key: the name of the key's file; nil for the server's.
    package func knownHosts(port: Int? = nil, key: String = "host") throws -> String {
        let key = try String(contentsOfFile: keys.file(key + ".pub"), encoding: .utf8)
        return try keys.write("[127.0.0.1]:\(port ?? self.port) \(key)", to: "known-\(UUID().uuidString)")
    }

    package static func with(_ kind: Kind, _ body: (FileServer) async throws -> Void) async throws {
        try await withTemporaryFolder { served in
            try await withTemporaryFolder { keys in
                for (name, passphrase) in [("host", ""), ("user", ""), ("stranger", ""), ("locked", Self.passphrase)] {
                    let tool = try Tool(
                        "ssh-keygen", ["-q", "-t", "ed25519", "-N", passphrase, "-f", keys.file(name)], in: keys)
                    guard await tool.end() == 0 else { throw Failure(description: tool.output) }
                }
                let (tool, port) = try await start(kind, served, keys)
                do {
                    try await body(FileServer(port: port, folder: served, keys: keys))
                } catch {
                    await tool.stop()
                    throw error
                }
                await tool.stop()
            }
        }
    }

    package struct Failure: Error, CustomStringConvertible {
        package var description: String
    }

    /// Starts the server. The kernel chooses the port, which another program may take before the server does: then once more.
    private static func start(
        _ kind: Kind, _ served: TemporaryFolder, _ keys: TemporaryFolder
    ) async throws -> (Tool, Int) {
        var output = ""
        for _ in 0..<5 {
            let port = try LoopbackSocket.freePort()
            let tool = try start(kind, port, served, keys)
            for _ in 0..<1000 {
                if LoopbackSocket.connects(to: port) { return (tool, port) }
                if kill(tool.identifier, 0) != 0 { break }
                try await Task.sleep(for: .milliseconds(10))
            }
            await tool.stop()
            output = tool.output
        }
        throw Failure(description: "the server does not start: \(output)")
    }

    private static func start(
        _ kind: Kind, _ port: Int, _ served: TemporaryFolder, _ keys: TemporaryFolder
    ) throws -> Tool {
        guard kind == .openSSH else { return try startProFTPD(kind, port, served, keys) }
        let authorized = try ["user", "locked"].map {
            try String(contentsOfFile: keys.file($0 + ".pub"), encoding: .utf8)
        }
        try keys.write(authorized.joined(), to: "authorized")
        // Where the service has never run, sshd lacks the folder that its unit makes.
        if getuid() == 0 { mkdir("/run/sshd", 0o755) }
        try keys.write(
            """
            ListenAddress 127.0.0.1:\(port)
            HostKey \(keys.file("host"))
            AuthorizedKeysFile \(keys.file("authorized"))
            PidFile none
            StrictModes no
            UsePAM no
            Subsystem sftp internal-sftp
            """, to: "sshd_config")
        return try Tool("sshd", ["-D", "-e", "-f", keys.file("sshd_config")], in: keys)
    }

    private static func startProFTPD(
        _ kind: Kind, _ port: Int, _ served: TemporaryFolder, _ keys: TemporaryFolder
    ) throws -> Tool {
        try keys.write(TestCertificate.certificate, to: "server.pem")
        try keys.write(TestCertificate.key, to: "server.key")
        let password = "$6$salt4tests$" + cryptOfPassword
        try keys.write("me:\(password):\(getuid()):\(getgid())::\(served.path):/bin/sh\n", to: "users")
        for name in ["users", "server.key"] { chmod(keys.file(name), 0o600) }
        let tls = """
            LoadModule mod_tls.c
            TLSEngine on
            TLSECCertificateFile \(keys.file("server.pem"))
            TLSECCertificateKeyFile \(keys.file("server.key"))
            TLSRequired \(kind == .ftps ? "on" : "off")
            TLSOptions NoSessionReuseRequired\(kind == .ftps ? " UseImplicitSSL" : "")
            """
        let sftp = """
            LoadModule mod_sftp.c
            SFTPEngine on
            SFTPHostKey \(keys.file("host"))
            SFTPAuthMethods password
            """
        try keys.write(
            """
            ServerName test
            ServerType standalone
            DefaultAddress 127.0.0.1
            SocketBindTight on
            Port \(port)
            UseIPv6 off
            User \(user)
            Group \(getgrgid(getgid()).map { String(cString: $0.pointee.gr_name) } ?? "root")
            RootLogin on
            RequireValidShell off
            AuthOrder mod_auth_file.c
            AuthUserFile \(keys.file("users"))
            PidFile \(keys.file("pid"))
            ScoreboardFile none
            DelayEngine off
            UseReverseDNS off
            WtmpLog off
            TransferLog none
            AllowRetrieveRestart on
            ModulePath /usr/lib/proftpd
            \(kind == .sftp ? sftp : kind == .ftp ? "" : tls)

            """, to: "proftpd.conf")
        return try Tool("proftpd", ["-n", "-c", keys.file("proftpd.conf")], in: keys)
    }

    /// What crypt(5) makes of ``password`` with SHA-512 and the salt `salt4tests`.
    private static let cryptOfPassword =
        "wNiM962uIqf6vHBcinPxDjo7MlKq1MjwLhspKLCWg9SpEqcdrzYcQ4xWGO6EptkR40iSM8vs/7Q9Za9r5QYem1"
}
