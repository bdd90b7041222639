import FeedConfiguration
import FeedModel
import FeedStores
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing
import TributaryStores
@testable import FeedFetching
@testable import TributaryEngine

/// `after_commit`: files that are deleted or moved once their rows are committed.
@Suite struct AfterCommitTests {
    private static let rows = "SELECT sku, name FROM article ORDER BY sku"

    private static func sources(_ fixture: EngineFixture, _ options: String, at place: String = "/*.xml") -> String {
        """
        [[sources.s.requests]]
        url = "file://\(fixture.folder.path)/data\(place)"
        \(options)
        """ + DocumentsTests.tables
    }

    private static func document(_ sku: Int, _ name: String) -> String { "<l><a sku='\(sku)' name='\(name)'/></l>" }

    private static func write(_ text: String, to name: String, _ fixture: EngineFixture) throws {
        let path = fixture.folder.file("data/" + name)
        try FileManager.default.createDirectory(
            atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(filePath: path))
    }

    /// The files below the folder, sorted.
    private static func files(_ fixture: EngineFixture) throws -> [String] {
        let data = fixture.folder.file("data")
        return try FileManager.default.subpathsOfDirectory(atPath: data).filter {
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: data + "/" + $0, isDirectory: &isFolder)
                && !isFolder.boolValue
        }.sorted()
    }

    private func sync(_ fixture: EngineFixture, _ sources: String) async throws -> RunReport {
        // As the daemon does: with the stored validators.
        try #require(await fixture.sync(sources, mode: .force).first)
    }

    // MARK: - Files of this machine

    @Test(.onEachStore) func filesAreDeletedAfterTheirCommit() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = Self.sources(fixture, "after_commit = \"delete\"", at: "/**/*.xml")
            try Self.write(Self.document(1, "A"), to: "a.xml", fixture)
            try Self.write(Self.document(2, "B"), to: "deep/b.xml", fixture)
            try Self.write("not XML", to: "other.txt", fixture)
            #expect(try await sync(fixture, sources).outcome == .committed)
            #expect(try Self.files(fixture) == ["other.txt"])
            // No file is no error, and changes no row, also without validators.
            for mode in [RefreshMode.force, .full] {
                let report = try #require(await fixture.sync(sources, mode: mode).first)
                #expect(report.outcome == .unchanged, "\(report.error ?? "")")
            }
            try Self.write(Self.document(3, "C"), to: "a.xml", fixture)
            #expect(try await sync(fixture, sources).outcome == .committed)
            #expect(try Self.files(fixture) == ["other.txt"])
            #expect(try fixture.rows(Self.rows) == ["1|A", "2|B", "3|C"])
        }
    }

    private func plan(_ fixture: EngineFixture, _ sources: String) async throws -> StackPlan {
        let service = try fixture.service(sources, clock: SystemClock())
        let source = try #require(try fixture.configuration(sources)[source: "s"])
        let plan = try await service.plan(source, bodies: [:], ignoresValidators: false) { _ in }
        try service.store.close()
        return plan
    }

    @Test(.onEachStore) func aRunAndItsPlanSayHowManyFilesGo() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = Self.sources(fixture, "after_commit = { move = \"done\" }")
            for number in 1...4 { try Self.write(Self.document(number, "A"), to: "\(number).xml", fixture) }
            let moved = "4 files to 'done': 1.xml, 2.xml, 3.xml and 1 more"
            let plan = try await self.plan(fixture, sources)
            #expect(plan.differs && plan.files.count == 1, "\(plan.files)")
            #expect(plan.files[0].hasSuffix(": would move \(moved)"), "\(plan.files)")
            #expect(plan.requests[0].note == "would move \(moved)")
            #expect(try Self.files(fixture) == ["1.xml", "2.xml", "3.xml", "4.xml"])
            let report = try await sync(fixture, sources)
            #expect(report.note?.hasSuffix(": moves \(moved)") == true, "\(report)")
            #expect(try fixture.rows("SELECT requests FROM tributary_run")[0].contains("moves 4 files to 'done'"))
            // Of a run without files, nothing is said.
            let empty = try await sync(fixture, sources)
            #expect(empty.outcome == .unchanged && empty.note == nil, "\(empty)")
        }
    }

    /// The plan of a source whose rows an earlier run has committed.
    @Test func filesWhoseRowsDoNotChangeAreTold() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try Self.write(Self.document(1, "A"), to: "a.xml", fixture)
            #expect(try await sync(fixture, Self.sources(fixture, "")).outcome == .committed)
            let sources = Self.sources(fixture, "after_commit = \"delete\"")
            let plan = try await self.plan(fixture, sources)
            #expect(plan.differs && !plan.changesRows, "\(plan.counts)")
            #expect(plan.files.first?.hasSuffix(": would delete 1 file: a.xml") == true, "\(plan.files)")
            let report = try await sync(fixture, sources)
            #expect(report.note?.hasSuffix(": deletes 1 file: a.xml") == true, "\(report)")
            #expect(try Self.files(fixture) == [])
        }
    }

    @Test func aSingleFileIsDeleted() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = Self.sources(
                fixture, "after_commit = \"delete\"\nsync = \"mirror\"\nmax_deleted = \"100%\"", at: "/a.xml")
            try Self.write(Self.document(1, "A"), to: "a.xml", fixture)
            #expect(try await sync(fixture, sources).outcome == .committed)
            #expect(try Self.files(fixture) == [])
            #expect(try await sync(fixture, sources).outcome == .unchanged)
            #expect(try fixture.rows(Self.rows) == ["1|A"])
            try Self.write(Self.document(2, "B"), to: "a.xml", fixture)
            #expect(try await sync(fixture, sources).outcome == .committed)
            #expect(try fixture.rows(Self.rows) == ["2|B"])
        }
    }

    @Test func aMoveReplacesNoFile() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = Self.sources(fixture, "after_commit = { move = \".done/old/\" }", at: "/**/*.xml")
            let time = Date(timeIntervalSince1970: 1_790_000_000)
            func write(_ number: Int, _ name: String) throws {
                try Self.write(Self.document(number, "\(number)"), to: name, fixture)
                try FileManager.default.setAttributes(
                    [.modificationDate: time], ofItemAtPath: fixture.folder.file("data/" + name))
            }
            try write(1, "a.xml")
            try write(2, "in/b.xml")
            #expect(try await sync(fixture, sources).outcome == .committed)
            #expect(try Self.files(fixture) == [".done/old/a.xml", ".done/old/in/b.xml"])
            try write(3, "a.xml")
            #expect(try await sync(fixture, sources).outcome == .committed)
            let other = ".done/old/a.xml.20260921T141320Z"
            #expect(try Self.files(fixture) == [".done/old/a.xml", other, ".done/old/in/b.xml"])
            let first = try String(contentsOfFile: fixture.folder.file("data/.done/old/a.xml"), encoding: .utf8)
            #expect(first == Self.document(1, "1"))
            // Both names are taken: the rows are committed, the file stays, and the next run tells it.
            try write(4, "a.xml")
            #expect(try await sync(fixture, sources).outcome == .committed)
            let report = try await sync(fixture, sources)
            #expect(report.outcome == .discarded)
            #expect(report.error?.contains("there is a file of its name and time; move that one away") == true)
            try FileManager.default.removeItem(atPath: fixture.folder.file("data/" + other))
            #expect(try await sync(fixture, sources).outcome == .unchanged)
            #expect(try Self.files(fixture) == [".done/old/a.xml", other, ".done/old/in/b.xml"])
            #expect(try fixture.rows(Self.rows) == ["1|1", "2|2", "3|3", "4|4"])
        }
    }

    @Test(arguments: ["data", "link"]) func aMoveIntoTheFilesOwnFolderLosesNothing(target: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            try Self.write(Self.document(1, "A"), to: "a.xml", fixture)
            try FileManager.default.createSymbolicLink(
                atPath: fixture.folder.file("link"), withDestinationPath: fixture.folder.file("data"))
            let sources = Self.sources(fixture, "after_commit = { move = \"\(fixture.folder.file(target))\" }")
            let report = try await sync(fixture, sources)
            #expect(report.outcome == .committed && report.note?.contains("name another folder") == true, "\(report)")
            #expect(try Self.files(fixture) == ["a.xml"])
        }
    }

    @Test func aFileThatStaysDoesNotDelayTheOthers() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = Self.sources(fixture, "after_commit = { move = \".done/\" }")
            for (number, name) in ["a.xml", "b.xml"].enumerated() {
                try Self.write(Self.document(number, "A"), to: name, fixture)
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSince1970: 1_790_000_000)],
                    ofItemAtPath: fixture.folder.file("data/" + name))
            }
            for name in ["a.xml", "a.xml.20260921T141320Z"] { try Self.write("", to: ".done/\(name)", fixture) }
            let report = try await sync(fixture, sources)
            #expect(report.outcome == .committed, "\(report)")
            #expect(try Self.files(fixture).filter { !$0.hasPrefix(".done/a") } == [".done/b.xml", "a.xml"])
        }
    }

    @Test func aMoveToAnotherFileSystem() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let target = "/dev/shm/tributary-test-\(UUID().uuidString)"
            var (here, there) = (stat(), stat())
            guard stat(fixture.folder.path, &here) == 0, stat("/dev/shm", &there) == 0, here.st_dev != there.st_dev,
                access("/dev/shm", W_OK) == 0
            else { return }
            defer { try? FileManager.default.removeItem(atPath: target) }
            let sources = Self.sources(fixture, "after_commit = { move = \"\(target)\" }")
            for (number, names) in [(1, ["a.xml"]), (2, ["a.xml", "a.xml.20260921T141320Z"])] {
                try Self.write(Self.document(number, "n"), to: "a.xml", fixture)
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSince1970: 1_790_000_000)],
                    ofItemAtPath: fixture.folder.file("data/a.xml"))
                #expect(try await sync(fixture, sources).outcome == .committed)
                #expect(try Self.files(fixture) == [])
                #expect(try TestSupport.files(in: target).sorted() == names)
                let moved = try String(contentsOfFile: target + "/" + (names.last ?? ""), encoding: .utf8)
                #expect(moved == Self.document(number, "n"))
            }
        }
    }

    /// A process that dies between the commit and the action leaves what a commit without an action leaves.
    @Test(.onEachStore) func theNextRunMakesUpForAnActionThatIsMissing() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try Self.write(Self.document(1, "A"), to: "a.xml", fixture)
            #expect(try await sync(fixture, Self.sources(fixture, "")).outcome == .committed)
            #expect(try Self.files(fixture) == ["a.xml"])
            let sources = Self.sources(fixture, "after_commit = \"delete\"")
            // With the key, a file has other validators, so it is read again.
            #expect(try await sync(fixture, sources).error == nil)
            #expect(try Self.files(fixture) == [])
            // With a new file besides, both are read, and both are done.
            try Self.write(Self.document(2, "B"), to: "b.xml", fixture)
            #expect(try await sync(fixture, Self.sources(fixture, "")).outcome == .committed)
            try Self.write(Self.document(3, "C"), to: "c.xml", fixture)
            #expect(try await sync(fixture, sources).outcome == .committed)
            #expect(try Self.files(fixture) == [])
            #expect(try fixture.rows(Self.rows) == ["1|A", "2|B", "3|C"])
        }
    }

    @Test func aFailureIsToldAndRepeated() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = Self.sources(fixture, "after_commit = { move = \"done/\" }")
            try Self.write(Self.document(1, "A"), to: "a.xml", fixture)
            // A file in place of the folder.
            try Self.write("", to: "done", fixture)
            let committed = try await sync(fixture, sources)
            #expect(committed.outcome == .committed)
            #expect(committed.note?.contains("their files stay until the next run: ") == true, "\(committed)")
            #expect(try Self.files(fixture) == ["a.xml", "done"])
            for _ in 1...2 {
                let report = try await sync(fixture, sources)
                #expect(report.outcome == .discarded)
                #expect(
                    report.error?.contains("cannot be moved to 'done/' after its commit: Not a directory") == true,
                    "\(report.error ?? "")")
            }
            #expect(try fixture.rows("SELECT failures FROM tributary_source") == ["2"])
            try FileManager.default.removeItem(atPath: fixture.folder.file("data/done"))
            #expect(try await sync(fixture, sources).outcome == .unchanged)
            #expect(try Self.files(fixture) == ["done/a.xml"])
            #expect(try fixture.rows(Self.rows) == ["1|A"])
        }
    }

    // MARK: - Runs that do not commit

    @Test(.onEachStore) func onlyACommitIsFollowedByAnAction() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = Self.sources(fixture, "after_commit = \"delete\"\nmax_changed = 0")
            try Self.write("<l><a sku='1'", to: "a.xml", fixture)
            #expect(try await sync(fixture, sources).outcome == .discarded)
            #expect(try Self.files(fixture) == ["a.xml"])
            try Self.write(Self.document(1, "A"), to: "a.xml", fixture)
            let service = try fixture.service(sources, clock: SystemClock())
            let source = try #require(try fixture.configuration(sources)[source: "s"])
            _ = try await service.plan(source, bodies: [:], ignoresValidators: true) { _ in }
            try service.store.close()
            #expect(try Self.files(fixture) == ["a.xml"])
            #expect(try await sync(fixture, sources).outcome == .committed)
            #expect(try Self.files(fixture) == [])

            try Self.write(Self.document(1, "changed"), to: "a.xml", fixture)
            #expect(try await sync(fixture, sources).outcome == .blocked)
            #expect(try Self.files(fixture) == ["a.xml"])
            let store = try #require(try fixture.configuration(sources).openExistingStore(isWritten: true))
            _ = try store.accept(["s"], inAdvance: false, at: Date())
            try store.close()
            #expect(try await sync(fixture, sources).outcome == .committed)
            #expect(try fixture.rows(Self.rows) == ["1|changed"])
            _ = try await sync(fixture, sources)
            #expect(try Self.files(fixture) == [])
        }
    }

    /// The rows of these files are not in the store.
    @Test func filesOfAnUndoneFeedStay() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources =
                "[sources.s]\nkeep_history = true\n" + Self.sources(fixture, "after_commit = { move = \"done/\" }")
            try Self.write(Self.document(1, "A"), to: "a.xml", fixture)
            // A file in place of the folder, so that the action fails.
            try Self.write("", to: "done", fixture)
            #expect(try await sync(fixture, sources).outcome == .committed)
            let configuration = try fixture.configuration(sources)
            let store = try #require(try configuration.openExistingStore(isWritten: true))
            _ = try await UndoRun(
                "s", to: .lastChange, in: store, declaration: configuration[source: "s"],
                parsers: EngineFixture.registry
            ).run()
            try store.close()
            #expect(try fixture.rows(Self.rows) == [])
            try FileManager.default.removeItem(atPath: fixture.folder.file("data/done"))
            #expect(try await sync(fixture, sources).outcome == .unchanged)
            #expect(try Self.files(fixture) == ["a.xml"])
            try Self.write(Self.document(2, "B"), to: "b.xml", fixture)
            #expect(try await sync(fixture, sources).outcome == .committed)
            #expect(try fixture.rows(Self.rows) == ["1|A", "2|B"])
            #expect(try Self.files(fixture) == ["done/a.xml", "done/b.xml"])
        }
    }

    @Test func aChangedFileStays() async throws {
        try await withTemporaryFolder { (folder) async throws in
            let (path, text) = (folder.file("a.xml"), Self.document(1, "A"))
            let address = "file://\(path)"
            func exchange() async throws -> Exchange {
                var request = try #require(
                    try TributaryConfiguration(
                        file: folder.write(
                            "[[sources.s.requests]]\nurl = \"\(address)\"\nparser = \"ItemsParser\"\n",
                            to: "sources.toml"),
                        parsers: EngineFixture.registry, environment: [:])[source: "s"]?.requests.first)
                request.afterCommit = .delete
                return try await FileFetcher(now: { Date() }).fetch(
                    request, ExchangeContext(), validators: Validators(), movedTo: nil)
            }
            // Another size, another time, another file of one size and time.
            let changes: [() throws -> Void] = [
                { try Data((text + " ").utf8).write(to: URL(filePath: path)) },
                {
                    try FileManager.default.setAttributes(
                        [.modificationDate: Date(timeIntervalSince1970: 1_000_000)], ofItemAtPath: path)
                },
                {
                    var status = stat()
                    #expect(stat(path, &status) == 0)
                    try folder.write(text, to: "other")
                    let times = [status.modification, status.modification]
                    #expect(utimensat(AT_FDCWD, folder.file("other"), times, 0) == 0)
                    #expect(rename(folder.file("other"), path) == 0)
                },
            ]
            for change in changes {
                try folder.write(text, to: "a.xml")
                let exchange = try await exchange()
                try change()
                try await exchange.files?.finish(ExchangeContext())
                #expect(FileManager.default.fileExists(atPath: path))
            }
            let last = try await exchange()
            try await last.files?.finish(ExchangeContext())
            #expect(!FileManager.default.fileExists(atPath: path))
            // One that is gone is done.
            try await last.files?.finish(ExchangeContext())
            // A link is neither deleted nor moved.
            try folder.write(text, to: "target")
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "target")
            let link = try await exchange()
            await #expect(throws: FetchError.self) { try await link.files?.finish(ExchangeContext()) }
        }
    }

    // MARK: - Declarations

    @Test func declarationsThatWouldLoseRowsAreRefused() async throws {
        func expect(_ url: String, _ options: String, _ mistake: String) async throws {
            try await EngineFixture.expectMistake(
                "[[sources.s.requests]]\nurl = \"\(url)\"\nparser = \"ItemsParser\"\n\(options)\n", mistake)
        }
        let delete = "after_commit = \"delete\"\n"
        try await expect("URL/a", delete, "after_commit: requires a file:, s3:, sftp:, ftps: or ftp: address")
        try await expect(
            "file:///in/*.xml", delete + "sync = \"mirror\"",
            "after_commit: a mirror of the files that match '*.xml' would delete the rows of those that are gone; use")
        try await expect(
            "file:///in/", delete + "sync = \"append\"\ndocuments = \"*.xml\"",
            "after_commit: sync = \"append\" could add the rows of a file that matches '*.xml' twice; use")
        try await expect(
            "file:///in/**/*.xml", "after_commit = { move = \"done\" }",
            "after_commit.move: files in 'done' match '**/*.xml', and would be read again; write \".done/\"")
        try await expect(
            "file:///in/*.xml", "after_commit = { move = \"../done\" }",
            "after_commit.move: '../done' is not the path of a folder; write \"done/\"")
        try await expect(
            "ftp://h/in/*.xml", "after_commit = { move = \"/done\" }",
            "after_commit.move: '/done' is absolute; name a folder within that of the files")
        try await expect(
            "file:///in/*.xml", "after_commit = { move = \"done\", action = \"delete\" }",
            "after_commit: found 'action' and 'move'; give only one")
        try await expect("file:///in/*.xml", "after_commit = {}", "after_commit: names no action; write \"delete\"")
    }

    @Test(arguments: [
        ("after_commit = \"delete\"", "", "*.xml", true), ("after_commit = \"delete\"", "", "*.csv", false),
        ("after_commit = \"delete\"", "after_commit = \"delete\"", "*.xml", false),
        ("", "after_commit = { move = \".done/\" }", "*.xml", true),
    ])
    func requestsForTheSameFilesTreatThemAlike(_ one: String, _ other: String, _ pattern: String, isMistake: Bool)
        async throws
    {
        try await withTemporaryFolder { (folder) async throws in
            let text = [("a", "*.xml", one), ("b", pattern, other)].map { key, pattern, options in
                "[[sources.s.requests]]\nkey = \"\(key)\"\nurl = \"file:///in/\(pattern)\"\nparser = \"ItemsParser\"\n\(options)\n"
            }
            let configuration = try TributaryConfiguration(
                file: folder.write(text.joined(), to: "sources.toml"), parsers: EngineFixture.registry, environment: [:]
            )
            let mistakes = ScopeConflict.mistakes(in: configuration, parsers: EngineFixture.registry)
            #expect(mistakes.contains { "\($0)".contains("after_commit") } == isMistake, "\(mistakes)")
        }
    }
}

/// `after_commit` on file servers.
@Suite(.timeLimit(.minutes(5))) struct AfterCommitServerTests {
    private static let kinds: [FileServer.Kind] =
        (FileServer.hasOpenSSH ? [.openSSH] : [])
        + (FileServer.hasProFTPD ? [.sftp, .ftp, .ftpWithTLS, .ftps] : [])

    private static func sources(_ fixture: RemoteFixture, _ name: String, _ options: String) throws -> String {
        try fixture.sources(name, options: options).replacing("sync = \"mirror\"", with: "sync = \"upsert\"")
    }

    private static func files(_ fixture: RemoteFixture) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: fixture.server.folder.path).filter { $0.contains(".xml") }
            .sorted()
    }

    private func sync(_ fixture: RemoteFixture, _ sources: String) async throws -> RunReport {
        try #require(await fixture.engine.sync(sources, mode: .force).first)
    }

    @Test(.enabled(if: !AfterCommitServerTests.kinds.isEmpty), arguments: AfterCommitServerTests.kinds)
    func filesOfAServerAreDeleted(_ kind: FileServer.Kind) async throws {
        try await RemoteFixture.with(kind) { fixture in
            try fixture.write(RemoteFixture.document(1, "A"), to: "in/a.xml")
            try fixture.write(RemoteFixture.document(2, "B"), to: "in/b ü'\"\\1.xml")
            try fixture.write(RemoteFixture.document(9, "other"), to: "b.xml")
            let folder = try Self.sources(fixture, "in/*.xml", "after_commit = \"delete\"")
            var report = try await sync(fixture, folder)
            #expect(report.outcome == .committed, "\(report.error ?? "")")
            #expect(try Self.files(fixture) == ["b.xml"])
            report = try await sync(fixture, folder)
            #expect(report.outcome == .unchanged, "\(report.error ?? "")")
            // One that may change once more in the same second stays for the next run.
            try fixture.write(RemoteFixture.document(3, "C"), to: "in/c.xml", minutes: -10)
            #expect(try await sync(fixture, folder).outcome == .committed)
            #expect(try Self.files(fixture) == ["b.xml", "in/c.xml"])
            try fixture.write(RemoteFixture.document(3, "C"), to: "in/c.xml")
            report = try await sync(fixture, folder)
            #expect(report.error == nil)
            #expect(try Self.files(fixture) == ["b.xml"])
            #expect(try fixture.engine.rows("SELECT sku, name FROM article ORDER BY sku") == ["1|A", "2|B", "3|C"])
        }
    }

    @Test(.enabled(if: !AfterCommitServerTests.kinds.isEmpty), arguments: AfterCommitServerTests.kinds)
    func aFileOfAServerIsMoved(_ kind: FileServer.Kind) async throws {
        try await RemoteFixture.with(kind) { fixture in
            let file = try Self.sources(fixture, "in/a%20b.xml", "after_commit = { move = \"done/old/\" }")
            for (number, count) in [(1, 1), (2, 2)] {
                try fixture.write(RemoteFixture.document(number, "n"), to: "in/a b.xml", minutes: 60 * Double(number))
                var report = try await sync(fixture, file)
                #expect(report.outcome == .committed, "\(report.error ?? "")")
                let files = try Self.files(fixture)
                #expect(files.count == count && files.first == "in/done/old/a b.xml", "\(files)")
                #expect(files.allSatisfy { $0.hasPrefix("in/done/old/a b.xml") })
                report = try await sync(fixture, file)
                #expect(report.outcome == .unchanged, "\(report.error ?? "")")
            }
            let first = try String(
                contentsOfFile: fixture.server.folder.file("in/done/old/a b.xml"), encoding: .utf8)
            #expect(first == RemoteFixture.document(1, "n"))
        }
    }

    @Test(.enabled(if: !AfterCommitServerTests.kinds.isEmpty), arguments: AfterCommitServerTests.kinds)
    func aServerThatRefusesIsAskedAgain(_ kind: FileServer.Kind) async throws {
        try await RemoteFixture.with(kind) { fixture in
            try fixture.write(RemoteFixture.document(1, "A"), to: "in/a.xml")
            // A file in place of the folder.
            try fixture.write("", to: "in/done")
            let sources = try Self.sources(fixture, "in/*.xml", "after_commit = { move = \"done/\" }")
            #expect(try await sync(fixture, sources).outcome == .committed)
            let report = try await sync(fixture, sources)
            #expect(report.outcome == .discarded)
            #expect(
                report.error?.contains("'a.xml' cannot be moved to 'done/' after its commit") == true,
                "\(report.error ?? "")")
            try fixture.remove("in/done")
            #expect(try await sync(fixture, sources).outcome == .unchanged)
            #expect(try Self.files(fixture) == ["in/done/a.xml"])
        }
    }
}
