import FeedConfiguration
import FeedDeclarations
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

    /// A file that the daemon cannot remove, as in a folder of another user's, is one request.
    @Test func aRequestThatCannotBeRemovedIsTakenOnce() async throws {
        try await withTemporaryFolder { (folder) async throws in
            let daemon = try daemonFolder(in: folder)
            let presence = try daemon.claim()
            defer { presence.release() }
            // Not even root can remove what another file system is mounted on, nor a folder by unlink(2).
            let path = folder.file("store.sqlite-refresh/1.request")
            try Data("[\"s\"]".utf8).write(to: URL(fileURLWithPath: path))
            let bind = try? Tool("mount", ["--bind", path, path], in: folder)
            guard let bind, await bind.end() == 0 else { return }
            #expect(daemon.takeRequests() == .sources(["s"]))
            #expect(daemon.takeRequests() == .all)
            let unbind = try Tool("umount", [path], in: folder)
            #expect(await unbind.end() == 0)
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
                atPath: fixture.folder.file("store.sqlite-refresh"))
            #expect(requests.isEmpty)
            daemon.signal(SIGTERM)
            #expect(await daemon.end() == 0)
        }
    }
}
