import Foundation

/// A cluster of the usual kind, made once in a process and copied, which takes a twentieth of the time.
struct ClusterTemplate: Sendable {
    private let path: String
    private let watcher: Watcher

    static let shared = Result { try ClusterTemplate() }

    private init() throws {
        let folder = try ServerProgram.makeFolder()
        watcher = try Watcher(end: "rm -rf \"$1\"", arguments: [folder], log: "\(folder)/watcher.log")
        path = "\(folder)/data"
        try Self.makeCluster(path, encoding: "UTF8", log: "\(folder)/programs.log")
    }

    func copy(to data: String, log: String) throws {
        let copying = ["cp", "-a", path, data]
        guard try ServerProgram.start(copying, log: log).waitUntilExit() else {
            throw ServerProgram.Failure(description: "\(copying) failed")
        }
    }

    static func makeCluster(_ path: String, encoding: String, log: String) throws {
        try ServerProgram.run(
            "initdb",
            [
                "-D", path, "--no-sync", "--auth=trust", "--username=postgres", "--encoding=\(encoding)",
                encoding == "UTF8" ? "--locale=C.UTF-8" : "--locale=C",
            ], log: log)
    }
}
