import Foundation

/// PostgreSQL's programs, and the user that they run as: the server refuses to be root.
enum ServerProgram {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// The folder of `initdb`, `pg_ctl` and `postgres`; nil where PostgreSQL is not installed.
    static let folder: String? = {
        let packaged = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        let newestFirst = packaged.sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }
        let path = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":").map(String.init) ?? []
        let folders = newestFirst.map { "/usr/lib/postgresql/\($0)/bin" } + path
        return folders.first { FileManager.default.isExecutableFile(atPath: "\($0)/initdb") }
    }()

    /// The words before a command that is to run as the server's user.
    static let userPrefix =
        getuid() == 0 ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", "--"] : []

    /// Makes a folder of the server's user, with a short name: the path of a Unix socket has at most 107 bytes.
    ///
    /// It is in memory where there is room: each test has a database of its own, whose making and dropping writes 8 MB.
    static func makeFolder() throws -> String {
        var system = statvfs()
        let isRoomy = statvfs("/dev/shm", &system) == 0 && system.f_bavail * system.f_frsize > 4 << 30
        let parent = isRoomy && access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
        var template = Array("\(parent)/tpg-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure(description: "no folder can be made in \(parent)") }
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        try giveToServer(path)
        return path
    }

    static func giveToServer(_ path: String) throws {
        guard getuid() == 0 else { return }
        guard let user = getpwnam("postgres"), chown(path, user.pointee.pw_uid, user.pointee.pw_gid) == 0 else {
            throw Failure(description: "\(path) cannot be given to the user postgres")
        }
    }

    /// Runs one of PostgreSQL's programs as the server's user, to its end.
    ///
    /// - Parameter log: the file that its output goes to.
    static func run(_ name: String, _ arguments: [String], log: String) throws {
        guard let folder else { throw Failure(description: "PostgreSQL is not installed") }
        guard try start(userPrefix + ["\(folder)/\(name)"] + arguments, log: log).waitUntilExit() else {
            let output = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
            throw Failure(description: "\(name) \(arguments) failed\n\(output.suffix(2000))")
        }
    }

    /// - Parameter input: a descriptor to read from; nothing, if nil.
    static func start(_ command: [String], log: String, input: Int32? = nil) throws -> ChildProcess {
        // The caller's PGHOST, PGOPTIONS and language are none of the server's business.
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        // The server's user need not see the tests' folder.
        return try ChildProcess(
            ["env", "-C", "/"] + command, environment: ["PATH=\(path)", "LC_ALL=C"], log: log, input: input)
    }
}
