import Foundation
import TestSupport
import Testing

/// `init`: from an empty folder to rows, with what it writes, shows and asks.
@Suite(.timeLimit(.minutes(5))) struct InitCommandTests {
    private static let prices = """
        Article;Name;Price
        A-100;Garden hose;24,95
        A-101;Hose reel;1.016,50
        """

    private struct Fixture {
        let folder: TemporaryFolder

        var file: String { folder.file("sources.toml") }
        var text: String { get throws { try String(contentsOfFile: file, encoding: .utf8) } }

        /// Runs a command in the folder.
        func run(_ line: String, typing input: String? = nil) async throws -> BuiltProgram.Output {
            let program = BuiltProgram("tributary", config: "").path
            let shell = BuiltProgram(path: "/bin/sh", environment: ["PATH": "/usr/bin:/bin", "TERM": "dumb"])
            let command = "'\(program)' \(line)"
            guard let input else { return try await shell.run("-c", "cd '\(folder.path)' && \(command)") }
            return try await shell.run(
                "-c", "cd '\(folder.path)' && printf '\(input)' | /usr/bin/script -qec \"\(command)\" /dev/null")
        }
    }

    private func withFixture(_ body: (Fixture) async throws -> Void) async throws {
        try await withTemporaryFolder { (folder) async throws in
            try folder.write(Self.prices, to: "prices.csv")
            try await body(Fixture(folder: folder))
        }
    }

    @Test func aDocumentBecomesAFileThatIsCheckedAndPlanned() async throws {
        try await withFixture { (fixture) async throws in
            let output = try await fixture.run("init prices.csv --name prices")
            #expect(output.status == 0, "\(output)")
            let expected = """
                wrote sources.toml and sources.schema.json
                sources.toml: 1 source, 1 request, no mistakes
                prices
                  + article = "A-100", name = "Garden hose", price = 24.95
                  + article = "A-101", name = "Hose reel", price = 1016.5
                  will insert 2, update 0, delete 0
                Rows that leave the document stay (sync = "upsert"). If it is a full list, write sync = "mirror".
                Next: `tributary sync` commits this; `tributary run` keeps it up to date.

                """
            #expect(output.standardOutput == expected, "\(output)")
            let text = try fixture.text
            #expect(text.hasPrefix("#:schema sources.schema.json\n"), "\(text)")
            #expect(text.contains("\n[store]\npath = \"tributary.sqlite\"\n"), "\(text)")
            try fixture.folder.write("# Another file.\n", to: "other.toml")
            let proposal = try await fixture.run("infer prices.csv --name prices -c other.toml")
            #expect(text.hasSuffix("\n" + proposal.standardOutput) && !proposal.standardOutput.contains("#:schema"))
            let schema = try await fixture.run("check --json-schema").standardOutput
            #expect(try String(contentsOfFile: fixture.folder.file("sources.schema.json"), encoding: .utf8) == schema)
            #expect(!FileManager.default.fileExists(atPath: fixture.folder.file("tributary.sqlite")))
        }
    }

    @Test func yesSyncsIntoTheStoreThatWasNamed() async throws {
        try await withFixture { (fixture) async throws in
            let output = try await fixture.run("init prices.csv --name prices --store shop.sqlite --yes")
            #expect(output.status == 0 && output.standardOutput.contains("prices  committed  2 inserted"), "\(output)")
            let rows = try dumpRows(path: fixture.folder.file("shop.sqlite")).filter { $0.hasPrefix("prices:") }
            #expect(rows.count == 2, "\(rows)")
        }
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/script")))
    func aPersonIsAskedForTheStoreAndForTheSync() async throws {
        try await withFixture { (fixture) async throws in
            let yes = try await fixture.run("init prices.csv --name prices", typing: "shop.sqlite\\ny\\n")
            #expect(yes.status == 0 && yes.standardOutput.contains("[tributary.sqlite]:"), "\(yes)")
            #expect(yes.standardOutput.contains("Sync now? [y/N]"), "\(yes)")
            #expect(FileManager.default.fileExists(atPath: fixture.folder.file("shop.sqlite")))
            #expect(try fixture.text.contains("path = \"shop.sqlite\""))
            let no = try await fixture.run("init prices.csv -c other.toml", typing: "\\nn\\n")
            #expect(no.status == 0 && no.standardOutput.contains("Next: `tributary sync`"), "\(no)")
            #expect(!FileManager.default.fileExists(atPath: fixture.folder.file("tributary.sqlite")))
        }
    }

    @Test func withoutADocumentTheFileHasAnExampleThatCheckAccepts() async throws {
        try await withFixture { (fixture) async throws in
            let output = try await fixture.run("init")
            #expect(output.status == 0 && output.standardOutput.contains("no mistakes"), "\(output)")
            #expect(output.standardOutput.contains("Next: write a source into sources.toml"), "\(output)")
            let lines = try fixture.text.split(separator: "\n", omittingEmptySubsequences: false)
            let start = try #require(lines.firstIndex { $0 == "# [sources.prices]" })
            let example = lines[start...].map { $0.hasPrefix("# ") ? $0.dropFirst(2) : $0.dropFirst() }
            try fixture.folder.write((lines[..<start] + example).joined(separator: "\n"), to: "sources.toml")
            let check = try await fixture.run("check")
            #expect(
                check.status == 0 && check.standardOutput.hasPrefix("sources.toml: 1 source, 1 request"), "\(check)")
        }
    }

    @Test func whatExistsStaysAsItIs() async throws {
        try await withFixture { (fixture) async throws in
            try fixture.folder.write("# mine\n", to: "sources.toml")
            for line in ["init", "init prices.csv --yes", "init -c sources.toml"] {
                let output = try await fixture.run(line)
                #expect(output.status == 64 && output.standardError.contains("sources.toml exists"), "\(output)")
            }
            #expect(try fixture.text == "# mine\n")
            try fixture.folder.write("{}", to: "sources.schema.json")
            let other = try await fixture.run("init -c other.toml")
            #expect(other.standardOutput.hasPrefix("wrote other.toml\n"), "\(other)")
            #expect(try String(contentsOfFile: fixture.folder.file("sources.schema.json"), encoding: .utf8) == "{}")
        }
    }

    @Test func aDocumentThatCannotBeReadLeavesNoFile() async throws {
        try await withFixture { (fixture) async throws in
            let output = try await fixture.run("init nothing.xml")
            #expect(output.status == 64 && output.standardError.contains("nothing.xml"), "\(output)")
            #expect(!FileManager.default.fileExists(atPath: fixture.file))
            #expect(try await fixture.run("init -").status == 64)
        }
    }

    @Test func aPasswordIsInTheFileOfItsUserAlone() async throws {
        try await withFixture { (fixture) async throws in
            let output = try await fixture.run(
                "init prices.csv --store 'postgresql://shop:hunter2secret@127.0.0.1:1/shop'")
            #expect(output.status == 1, "\(output)")
            #expect(!"\(output)".contains("hunter2secret"), "\(output)")
            #expect(try fixture.text.contains("url = \"postgresql://shop:hunter2secret@127.0.0.1:1/shop\""))
            let mode = try FileManager.default.attributesOfItem(atPath: fixture.file)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }

    /// By the rule by which messages leave it out.
    @Test func aSecretParameterIsInTheFileOfItsUserAlone() async throws {
        try await withFixture { (fixture) async throws in
            try await withStubServer { (server) async throws in
                server.document("/prices", "<l><price id='1'/><price id='2'/></l>")
                let output = try await fixture.run("init '\(server.url)/prices?apikey=hunter2secret'")
                #expect(output.status == 0, "\(output)")
                #expect(try fixture.text.contains("apikey=hunter2secret"))
                let mode = try FileManager.default.attributesOfItem(atPath: fixture.file)[.posixPermissions] as? Int
                #expect(mode == 0o600)
            }
        }
    }

    @Test func aPathWithAnEqualsSignIsAFile() async throws {
        try await withFixture { (fixture) async throws in
            let output = try await fixture.run("init prices.csv --store './a=b.sqlite' --yes")
            #expect(output.status == 0, "\(output)")
            #expect(try fixture.text.contains("path = \"./a=b.sqlite\""))
            #expect(FileManager.default.fileExists(atPath: fixture.folder.file("a=b.sqlite")))
        }
    }

    // MARK: - What infer shares with it

    @Test func aWholeFileNamesItsSchemaAndOtherTablesAreLeftAlone() async throws {
        try await withFixture { (fixture) async throws in
            _ = try await fixture.run("infer prices.csv --name prices > sources.toml")
            let first = try fixture.text
            #expect(first.hasPrefix("#:schema sources.schema.json\n# Editors complete and check"), "\(first)")
            _ = try await fixture.run("infer prices.csv --name prices2 > two.toml; cat two.toml >> sources.toml")
            let text = try fixture.text
            #expect(text.contains("table = \"prices2\""), "\(text)")
            try fixture.folder.write("<l><prices id='1'/><prices id='2'/></l>", to: "other.xml")
            let other = try await fixture.run("infer other.xml --name other").standardOutput
            #expect(other.contains("table = \"other_prices\""), "\(other)")
            #expect(try await fixture.run("check").status == 0)
        }
    }

    @Test func aFeedIsProposedWithItsParser() async throws {
        try await withFixture { (fixture) async throws in
            try fixture.folder.write(
                "<rss version='2.0'><channel><title>t</title><item><guid>1</guid><title>a</title></item></channel></rss>",
                to: "news.xml")
            let output = try await fixture.run("init news.xml --yes")
            #expect(output.status == 0 && output.standardOutput.contains("committed"), "\(output)")
            #expect(try fixture.text.contains("parser = \"SyndicationParser\""))
            let mapping = try await fixture.run("infer news.xml --mapping").standardOutput
            #expect(mapping.contains("element = \"/rss/channel/item\""), "\(mapping)")
        }
    }
}
