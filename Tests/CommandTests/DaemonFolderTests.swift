import FeedConfiguration
import FeedParsing
import Foundation
import Synchronization
import TestSupport
import Testing
import TributaryEngine

@testable import TributaryCommands

/// How a daemon is found, and asked.
@Suite struct DaemonFolderTests {
    private func daemonFolder(in folder: TemporaryFolder) throws -> DaemonFolder {
        let file = try folder.write("[store]\npath = \"store.sqlite\"\n", to: "sources.toml")
        return try #require(DaemonFolder(TributaryConfiguration(file: file, parsers: ParserRegistry([]))))
    }

    private final class Flag: Sendable {
        let isSet = Atomic(false)
    }

    /// `status` looks whether a daemon runs, at the instant at which one starts.
    @Test func whoeverLooksPreventsNoStart() async throws {
        try await withTemporaryFolder { (folder) async throws in
            let daemon = try daemonFolder(in: folder)
            let isOver = Flag()
            for _ in 0..<2 {
                let looking = try daemonFolder(in: folder)
                Thread.detachNewThread {
                    while !isOver.isSet.load(ordering: .relaxed) { _ = looking.isDaemonRunning }
                }
            }
            defer { isOver.isSet.store(true, ordering: .relaxed) }
            for _ in 0..<500 { try daemon.claim().release() }
        }
    }

    @Test func twoDaemonsDoNotRunOnOneStore() async throws {
        try await withTemporaryFolder { (folder) async throws in
            let (one, other) = (try daemonFolder(in: folder), try daemonFolder(in: folder))
            let presence = try one.claim()
            #expect(other.isDaemonRunning)
            #expect(throws: Failure.self) { try other.claim() }
            presence.release()
            #expect(!other.isDaemonRunning)
            try other.claim().release()
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["sources.toml"])
        }
    }

    /// A mistyped path makes no second, empty store.
    @Test(.timeLimit(.minutes(5))) func noCommandMakesTheFolderOfAStore() async throws {
        try await withTemporaryFolder { (folder) async throws in
            try folder.write("<r><i id='1'/></r>", to: "a.xml")
            try folder.write(
                """
                [store]
                path = "none/deep/store.sqlite"
                [[sources.s.requests]]
                url = "file://\(folder.file("a.xml"))"
                tables = [{ table = "t", element = "i", key = ["id"], columns = { id = "@id" } }]
                """, to: "sources.toml")
            let program = BuiltProgram("tributary", config: folder.file("sources.toml"))
            let reason =
                "the store \(folder.file("none/deep/store.sqlite")) cannot be opened: the folder "
                + "\(folder.file("none/deep")) does not exist; create it, or name another path"
            for command in ["sync", "run"] {
                let output = try await program.run(command)
                #expect(output.status == 1 && output.standardError.contains(reason), "\(command): \(output)")
            }
            let check = try await program.run("check")
            #expect(check.status == 0 && check.standardOutput.contains("store.path: \(reason)"), "\(check)")
            #expect(!FileManager.default.fileExists(atPath: folder.file("none")))
            try FileManager.default.createDirectory(
                atPath: folder.file("none/deep"), withIntermediateDirectories: true)
            #expect(try await program.run("sync").status == 0)
            #expect(try await !program.run("check").standardOutput.contains("note: "))
        }
    }

    /// A file that the daemon cannot remove, as in a folder of another user's, is one request.
    @Test func aRequestThatCannotBeRemovedIsTakenOnce() async throws {
        try await withTemporaryFolder { (folder) async throws in
            let daemon = try daemonFolder(in: folder)
            let presence = try daemon.claim()
            defer { presence.release() }
            // Not even root can remove what another file system is mounted on, nor a folder by unlink(2).
            let path = folder.file("store.sqlite-messages/1.message")
            try JSONEncoder().encode(DaemonFolder.Message.refresh(["s"])).write(to: URL(fileURLWithPath: path))
            let bind = try? Tool("mount", ["--bind", path, path], in: folder)
            guard let bind, await bind.end() == 0 else { return }
            #expect(daemon.takeMessages() == [.refresh(["s"])])
            #expect(daemon.takeMessages() == [])
            let unbind = try Tool("umount", [path], in: folder)
            #expect(await unbind.end() == 0)
        }
    }

    /// A store with one run of the source `s`.
    private func withStore(_ body: (TemporaryFolder, BuiltProgram, DaemonFolder) async throws -> Void) async throws {
        try await withStubServer { (server) async throws in
            try await withTemporaryFolder { (folder) async throws in
                server.document("/a", "<r><item id='1'/></r>")
                let file = try folder.write(
                    """
                    [store]
                    path = "store.sqlite"
                    [[sources.s.requests]]
                    url = "\(server.url)/a"
                    tables = [{ table = "item", element = "item", key = ["id"], columns = { id = "@id" } }]
                    """, to: "sources.toml")
                let program = BuiltProgram("tributary", config: file)
                #expect(try await program.run("sync").status == 0)
                let configuration = try TributaryConfiguration(file: file, parsers: ParserRegistry([]))
                try await body(folder, program, #require(DaemonFolder(configuration)))
            }
        }
    }

    /// SIGUSR2 would end what is no daemon.
    @Test func aCommandThatHasTheStoreIsNotSignalled() async throws {
        try await withStore { (folder, program, daemon) async throws in
            #expect(try await program.run("pause", "s").status == 0)
            // This process would be ended.
            let presence = try daemon.claim(for: "restore")
            let holder = "`restore` (process \(getpid()))"
            let status = try await program.run("status")
            #expect(status.standardOutput.contains("\(holder) has the store"), "\(status)")
            let resume = try await program.run("resume", "s")
            #expect(resume.status == 0 && resume.standardOutput == "s is resumed\n", "\(resume)")
            let refresh = try await program.run("refresh", "s")
            #expect(refresh.status == 1 && refresh.standardError.contains("\(holder) has"), "\(refresh)")
            for command in [["run"], ["move-store", "--to", folder.file("other.sqlite"), "--yes"]] {
                let output = try await program.start(command).output()
                #expect(output.status == 1 && output.standardError.contains("\(holder) has"), "\(output)")
            }
            presence.release()
            #expect(try files(in: folder.path).filter { $0.contains("-daemon") || $0.contains("-messages") } == [])
        }
    }

    /// The daemon's user can put a link in place of everything in the store's folder.
    @Test(.enabled(if: getuid() == 0)) func rootFollowsNoLinkOfTheDaemonsUser() async throws {
        try await withStore { (folder, program, daemon) async throws in
            let user = try #require(getpwnam("nobody")).pointee
            let guarded = folder.file("guarded")
            try FileManager.default.createDirectory(
                atPath: guarded, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            try folder.write("kept", to: "guarded/file")
            let presence = try daemon.claim()
            // In place of the daemon, a process that a signal may end.
            let sleeper = try Tool("sleep", ["60"], in: folder)
            try folder.write("\(sleeper.identifier)\n", to: "daemon")
            let text = try Data(contentsOf: URL(fileURLWithPath: folder.file("daemon")))
            try FileHandle(forWritingTo: URL(fileURLWithPath: folder.file("store.sqlite-daemon"))).write(
                contentsOf: text)
            for path in ["", "store.sqlite-daemon"] { chown(folder.file(path), user.pw_uid, user.pw_gid) }
            rmdir(folder.file("store.sqlite-messages"))
            symlink(guarded, folder.file("store.sqlite-messages"))
            let refresh = try await program.run("refresh", "s")
            #expect(refresh.status == 1, "\(refresh)")
            #expect(try files(in: guarded) == ["file"])
            var facts = stat()
            #expect(stat(guarded, &facts) == 0 && facts.st_uid == 0)
            presence.release()
            await sleeper.stop()
            // Nor does root empty the file to which a link leads.
            symlink(folder.file("guarded/file"), folder.file("store.sqlite-daemon"))
            let run = try await program.run("run")
            #expect(run.status == 1 && run.standardError.contains("store.sqlite-daemon cannot be written"), "\(run)")
            #expect(try String(contentsOfFile: folder.file("guarded/file"), encoding: .utf8) == "kept")
        }
    }

    /// The first refresh is root's, and the daemon another user's.
    @Test(.enabled(if: getuid() == 0 && Tool.isInstalled("setpriv")))
    func whatRootAsksForIsTakenByTheDaemonOfAnotherUser() async throws {
        try await TellingFixture.with { (fixture) async throws in
            let user = try #require(getpwnam("nobody")).pointee
            for path in [fixture.folder.path, fixture.folder.file("sources.toml")] {
                chown(path, user.pw_uid, user.pw_gid)
            }
            var program = fixture.program
            program.user = (user.pw_uid, user.pw_gid)
            let daemon = try program.start(["run"])
            var lines = daemon.errorLines.makeAsyncIterator()
            func wait(for text: String) async -> String {
                while let line = await lines.next(isolation: #isolation) { if line.contains(text) { return line } }
                return ""
            }
            #expect(await wait(for: "s0: committed") != "")
            for _ in 0..<2 {
                #expect(try await fixture.program.run("refresh", "s0").status == 0)
                #expect(await wait(for: "Refreshing").contains("sources=s0"))
            }
            let requests = try FileManager.default.contentsOfDirectory(
                atPath: fixture.folder.file("store.sqlite-messages"))
            #expect(requests.isEmpty)
            daemon.signal(SIGTERM)
            #expect(await daemon.end() == 0)
        }
    }
}
