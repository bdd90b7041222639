import FeedModel
import Foundation
import TestEngine
import TestSupport
import Testing
@testable import FeedConfiguration

/// `include`: further files with sources and hooks.
@Suite struct IncludeTests {
    private static func source(_ name: String, _ options: String = "") -> String {
        "[sources.\(name)]\n\(options)\n[[sources.\(name).requests]]\nurl = \"http://h/\(name)\"\nparser = \"ItemsParser\"\n"
    }

    private static func with(
        _ files: [String: String], _ body: (TemporaryFolder) throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            for name in ["conf.d", "more"] {
                try FileManager.default.createDirectory(atPath: folder.file(name), withIntermediateDirectories: true)
            }
            for (name, text) in files { try folder.write(text, to: name) }
            try body(folder)
        }
    }

    private static func read(_ folder: TemporaryFolder) throws -> TributaryConfiguration {
        try TributaryConfiguration(
            file: folder.file("sources.toml"), parsers: EngineFixture.registry, environment: [:])
    }

    private static func mistakes(_ folder: TemporaryFolder) -> [ConfigurationError.Problem] {
        do {
            _ = try read(folder)
            return []
        } catch let error as ConfigurationError {
            return error.problems
        } catch {
            return [.init(file: "", finding: "\(error)")]
        }
    }

    private static func text(_ folder: TemporaryFolder) -> [String] {
        mistakes(folder).map { $0.description.replacing(folder.path + "/", with: "") }
    }

    @Test func sourcesAndHooksOfAllFilesAreOneConfiguration() async throws {
        let files = [
            "sources.toml": """
            include = ["conf.d/*.toml", "more/hooks.toml", "conf.d/a.toml"]
            [defaults]
            cache = "6h"
            headers = { Authorization = "${file:token}" }

            """ + Self.source("main"),
            "token": "of the main folder", "conf.d/token": "of the wrong folder",
            "conf.d/b.toml": Self.source("b", "cache = \"1h\""), "conf.d/a.toml": Self.source("a"),
            "conf.d/.hidden.toml": "[", "conf.d/a.toml~": "[",
            "more/hooks.toml": "[hooks.mail]\non = [\"failing\"]\nsources = [\"a\"]\nrun = [\"bin/mail\"]\n",
        ]
        try await Self.with(files) { folder in
            let configuration = try Self.read(folder)
            #expect(configuration.sources.map(\.name) == ["a", "b", "main"])
            #expect(configuration.sources.map(\.cache) == [.seconds(21_600), .seconds(3_600), .seconds(21_600)])
            let headers = configuration.sources.map { $0.requests[0].headers["Authorization"]?.value }
            #expect(headers == Array(repeating: "of the main folder", count: 3))
            guard case .program(let command)? = configuration.hooks.first?.receiver else {
                Issue.record("no hook")
                return
            }
            #expect(command[0].value == folder.file("bin/mail"))
            #expect(configuration.place("sources", "a").file == folder.file("conf.d/a.toml"))
            #expect(configuration.place("sources", "main").file == folder.file("sources.toml"))
            #expect(configuration.place("hooks", "mail").file == folder.file("more/hooks.toml"))
            #expect(configuration.sources[0].requests[0].place.file == folder.file("conf.d/a.toml"))
            // It is the same source, wherever it stands.
            try folder.write("include = [\"conf.d/b.toml\"]\n[defaults]\ncache = \"6h\"\n", to: "sources.toml")
            let known = try Self.read(folder)[source: "b"]
            let whole = "[defaults]\ncache = \"6h\"\n" + Self.source("b", "cache = \"1h\"")
            try folder.write(whole, to: "sources.toml")
            #expect(try Self.read(folder)[source: "b"]?.identity == known?.identity)
        }
    }

    @Test func aMistakeNamesItsFile() async throws {
        let files = [
            "sources.toml": "include = [\"conf.d/*.toml\"]\n" + Self.source("main", "chace = \"1h\""),
            "conf.d/a.toml": "# A\n" + Self.source("a", "cache = \"soon\""),
            "conf.d/b.toml": Self.source("b").replacing("parser", with: "parsr"),
        ]
        try await Self.with(files) { folder in
            let found = Self.mistakes(folder)
            #expect(
                found.map(\.file)
                    == [folder.file("sources.toml"), folder.file("conf.d/a.toml"), folder.file("conf.d/b.toml")])
            #expect(found.map(\.line) == [3, 3, 5])
            #expect(
                found.map(\.keyPath) == ["sources.main.chace", "sources.a.cache", "sources.b.requests[1].parsr"])
            #expect(found.map(\.excerpt?.text) == ["chace = \"1h\"", "cache = \"soon\"", "parsr = \"ItemsParser\""])
        }
    }

    /// What a command finds out about a declaration later has its place, too.
    @Test func aLaterMistakeNamesItsFile() async throws {
        let files = [
            "sources.toml": "include = [\"conf.d/*.toml\"]\n" + Self.source("main"), "conf.d/a.toml": Self.source("a"),
        ]
        try await Self.with(files) { folder in
            let configuration = try Self.read(folder)
            let request = try #require(configuration[source: "a"]?.requests.first)
            let located = configuration.located([
                Mistake(request.place, "one"), Mistake(configuration.place("sources", "main"), "two"),
            ])
            #expect(located.map(\.file) == [folder.file("conf.d/a.toml"), folder.file("sources.toml")])
            #expect(located.map(\.line) == [3, 2])
        }
    }

    @Test func aNameDeclaredTwiceHasBothPlaces() async throws {
        let files = [
            "sources.toml": "include = [\"conf.d/*.toml\"]\n" + Self.source("a")
                + "[hooks.h]\non = [\"failing\"]\nrun = [\"x\"]\n",
            "conf.d/1.toml": "\n" + Self.source("b") + Self.source("a"), "conf.d/2.toml": "\n\n" + Self.source("b"),
            "conf.d/3.toml": "[hooks.h]\non = [\"failing\"]\nrun = [\"x\"]\n",
        ]
        try await Self.with(files) { folder in
            #expect(
                Self.text(folder)
                    == [
                        "conf.d/1.toml:7: sources.a: is declared twice; \(folder.path)/sources.toml:2 declares it first; "
                            + "rename one of them",
                        "conf.d/2.toml:3: sources.b: is declared twice; \(folder.path)/conf.d/1.toml:2 declares it first; "
                            + "rename one of them",
                        "conf.d/3.toml:1: hooks.h: is declared twice; \(folder.path)/sources.toml:7 declares it first; "
                            + "rename one of them",
                    ].map { $0.replacing(folder.path + "/", with: "") })
        }
    }

    /// The first declaration counts, and its mistakes are shown where it is.
    @Test func mistakesOfANameDeclaredTwiceAreInTheFirstFile() async throws {
        let files = [
            "sources.toml": "include = [\"conf.d/*.toml\"]\n" + Self.source("a", "cache = \"soon\""),
            "conf.d/1.toml": "\n" + Self.source("a") + Self.source("b", "cache = \"later\""),
            "conf.d/2.toml": Self.source("b"),
        ]
        try await Self.with(files) { folder in
            let found = Self.text(folder).filter { !$0.contains("declared twice") }
            #expect(found.count == 2, "\(found)")
            #expect(found.first?.hasPrefix("sources.toml:3: sources.a.cache: 'soon' is not a duration") == true)
            #expect(found.last?.hasPrefix("conf.d/1.toml:8: sources.b.cache: 'later' is not a duration") == true)
        }
    }

    @Test func anIncludedFileHasSourcesAndHooksAlone() async throws {
        let files = [
            "sources.toml": "include = [\"conf.d/*.toml\"]\n" + Self.source("main"),
            "conf.d/a.toml":
                "include = [\"b\"]\nsource = 1\nhooks = 3\n[store]\npath = \"x\"\n[defaults]\ncache = \"1h\"\n",
        ]
        try await Self.with(files) { folder in
            let main = "sources.toml"
            #expect(
                Self.text(folder) == [
                    "conf.d/a.toml:1: include: an included file includes no others; name them in \(main)",
                    "conf.d/a.toml:2: source: unknown key; did you mean 'sources'?",
                    "conf.d/a.toml:3: hooks: expected a table, found an integer",
                    "conf.d/a.toml:4: store: an included file has only sources and hooks; move the table to \(main)",
                    "conf.d/a.toml:6: defaults: an included file has only sources and hooks; move the table to \(main)",
                ])
        }
    }

    @Test func filesThatCannotBeReadAreTheOnlyMistakes() async throws {
        let files = [
            "sources.toml":
                "include = [\"none.toml\", \"conf.d/*.toml\", \"none.d/*.toml\", \"conf.d/\", \"*/a.toml\"]\n"
                + "[hooks.h]\non = [\"failing\"]\nsources = [\"b\"]\nrun = [\"x\"]\n",
            "conf.d/b.toml": "[sources.b\n", "conf.d/c.toml": "# nothing\n",
        ]
        try await Self.with(files) { folder in
            let found = Self.text(folder)
            #expect(
                found.prefix(3) == [
                    "sources.toml:1: include[1]: the file none.toml does not exist",
                    "sources.toml:1: include[4]: 'conf.d/' names no file; write \"conf.d/*.toml\"",
                    "sources.toml:1: include[5]: '*/a.toml' has a wildcard in the name of a folder; write a pattern for "
                        + "each folder",
                ])
            #expect(found.count == 5)
            #expect(found.dropFirst(3).first?.hasPrefix("conf.d/b.toml:1: this is not TOML: ") == true)
            #expect(found.last == "conf.d/c.toml: the file is empty; it declares no source")
        }
    }

    @Test func theFileItselfIsNotIncluded() async throws {
        try await Self.with(["sources.toml": "include = [\"*.toml\"]\n" + Self.source("a")]) { folder in
            try FileManager.default.createSymbolicLink(
                atPath: folder.file("link.toml"), withDestinationPath: folder.file("sources.toml"))
            #expect(try Self.read(folder).sources.map(\.name) == ["a"])
        }
    }

    @Test func allFilesTogetherHaveALimit() async throws {
        let padding = "#" + String(repeating: "x", count: 6 << 20) + "\n"
        let files = [
            "sources.toml": "include = [\"conf.d/*\"]\n" + padding, "conf.d/a": padding + Self.source("a"),
            "conf.d/b": padding + Self.source("b"),
        ]
        try await Self.with(files) { folder in
            #expect(
                Self.text(folder) == [
                    "sources.toml:1: include[1]: up to the file conf.d/b, there are more than 16 MiB, the limit of all "
                        + "files together"
                ])
        }
    }

    /// Commands that need the store alone know the names of all sources, or take them from the store.
    @Test func theStoreOfAFileWithMistakes() async throws {
        let files = [
            "sources.toml": "include = [\"conf.d/*.toml\"]\n" + Self.source("main", "chace = 1"),
            "conf.d/a.toml": Self.source("a", "chace = 1"),
        ]
        try await Self.with(files) { folder in
            func names() throws -> [String]? {
                try TributaryConfiguration(
                    storeOf: folder.file("sources.toml"), parsers: EngineFixture.registry, environment: [:]
                ) { _ in ["stored"] }?.sources.map(\.name)
            }
            #expect(try names() == ["a", "main"])
            try folder.write("[sources", to: "conf.d/b.toml")
            #expect(try names() == ["stored"])
        }
    }

    @Test func secretsOfIncludedFilesAreHidden() async throws {
        let files = [
            "sources.toml": "include = [\"conf.d/*.toml\"]\n",
            "conf.d/a.toml": Self.source("a", "auth = { bearer = \"hush-hush-hush\" }\ncache = \"hush-hush-hush\""),
        ]
        try await Self.with(files) { folder in
            let found = Self.mistakes(folder)
            #expect(found.count == 1)
            #expect(!"\(found.map(\.description)) \(found.map(\.excerpt?.text))".contains("hush-hush"))
        }
    }

    @Test func otherReadersKnowTheIncludedSources() async throws {
        let files = [
            "sources.toml": "include = [\"conf.d/*.toml\"]\n" + Self.source("main"), "conf.d/a.toml": Self.source("a"),
            "conf.d/b.toml": "[",
        ]
        try await Self.with(files) { folder in
            let main = folder.file("sources.toml")
            #expect(DeclaredTables(file: main).names == ["a", "main"])
            #expect(DeclaredTables(file: main).sources(at: "http://h/a") == ["a"])
            #expect(DeclaredTables.files(from: main) == [main, folder.file("conf.d/a.toml")])
        }
    }
}
