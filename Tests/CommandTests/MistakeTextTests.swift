import FeedConfiguration
import FeedParsing
import Foundation
import TestSupport
import Testing

@testable import TributaryCommands

/// Mistakes in a configuration, as `check` and every command that refuses one print them.
@Suite(.timeLimit(.minutes(5))) struct MistakeTextTests {
    private let terminal = Terminal(descriptor: -1, environment: [:])

    /// The mistakes of a file, as they are printed in so many columns.
    private func mistakes(_ text: String, columns: Int = 80) throws -> [String] {
        try withFile(text) { file in
            do {
                _ = try TributaryConfiguration(file: file, parsers: ParserRegistry([]), environment: [:])
                return []
            } catch let error as ConfigurationError {
                return error.problems.flatMap { problem in
                    var problem = problem
                    problem.file = "s.toml"
                    return MistakeText(problem: problem, columns: columns).lines(on: terminal).map(\.text)
                }
            }
        }
    }

    private func withFile<Value>(_ text: String, _ body: (String) throws -> Value) throws -> Value {
        let path = NSTemporaryDirectory() + "mistakes-\(UUID().uuidString).toml"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try body(path)
    }

    private let request = """
        [[sources.s.requests]]
        url = "http://127.0.0.1/"
        tables = [{ table = "t", element = "e", columns = { id = "@id" } }]

        """

    @Test func aKeyAValueAndATableAreMarked() throws {
        #expect(
            try mistakes(request + "[sources.s]\nenabeld = true\n") == [
                "s.toml:5:1: error: sources.s.enabeld: unknown key", " 5 | enabeld = true", "   | ^^^^^^^",
                "   = help: did you mean 'enabled'?",
            ])
        let value = try mistakes(request + "[sources.s]\ncache = \"1 hour\"\n")
        #expect(
            value.prefix(3) == [
                "s.toml:5:9: error: sources.s.cache: '1 hour' is not a duration", " 5 | cache = \"1 hour\"",
                "   |         ^^^^^^^^",
            ])
        #expect(value.last?.hasPrefix("   = help: write \"500ms\", \"5s\"") ?? false, "\(value)")
        #expect(
            try mistakes("[sources.s]\n[[sources.s.requests]]\nparser = \"mirrored\"\n") == [
                "s.toml:2:13: error: sources.s.requests[1]: 'url' is missing", " 2 | [[sources.s.requests]]",
                "   |             ^^^^^^^^",
            ])
        let inline = try mistakes(
            "[[sources.s.requests]]\nurl = \"http://127.0.0.1/\"\ntables = [{ table = \"t\", elemnt = \"e\", columns = { id = \"@id\" } }]\n"
        )
        #expect(inline.first == "s.toml:3:26: error: sources.s.requests[1].tables[1].elemnt: unknown key", "\(inline)")
        #expect(inline.count == 4, "\(inline)")
    }

    /// What a misspelt key lacks is no other mistake.
    @Test func consequencesAreNotReported() throws {
        for text in [
            "[sources.s]\n[[sources.s.request]]\nurl = \"http://127.0.0.1/\"\n",
            "[[sources.s.requests]]\nurll = \"http://127.0.0.1/\"\nparser = \"mirrored\"\n",
            "[[sources.s.requests]]\nurl = \"http://127.0.0.1/\"\ntabels = []\n",
            request + "[hooks.h]\nonn = [\"failing\"]\nrun = [\"/bin/true\"]\n",
            request + "[hooks.h]\non = [\"failing\"]\npots = \"http://127.0.0.1/\"\n",
        ] {
            let errors = try mistakes(text).filter { $0.contains(": error: ") }
            #expect(errors.count == 1 && errors[0].hasSuffix("unknown key"), "\(errors)")
        }
    }

    /// It is reported where it stands, and not at each source and request that inherits it.
    @Test(arguments: [
        ("accept_status = [200, 404]", "accept_status: 404 is not a status of success"),
        ("method = \"a b\"", "method: 'A B' is not a method"),
        ("window = \"\"", "window: a column's name must not be empty"),
        ("parser = \"Feed\"", "parser: the parser 'Feed' is not registered"),
        ("timeout = 5", "timeout: expected a duration"), ("auth = {}", "auth: there are no credentials"),
        ("headers = { \"a b\" = \"c\" }", "headers: 'a b' is not a header's name"),
    ])
    func anInheritedMistakeIsReportedOnce(line: String, expected: String) throws {
        let request =
            line.hasPrefix("parser")
            ? "url = \"http://127.0.0.1/\"\n" : "url = \"http://127.0.0.1/\"\nparser = \"mirrored\"\n"
        let sources = (1...3).map { "[sources.s\($0)]\n[[sources.s\($0).requests]]\n\(request)" }.joined()
        let errors = try mistakes("[defaults]\n\(line)\n\(sources)", columns: 200).filter { $0.contains(": error: ") }
        #expect(errors.count == 1 && errors[0].hasPrefix("s.toml:2:") && errors[0].contains(expected), "\(errors)")
        let own = try mistakes("[sources.s1]\n\(line)\n[[sources.s1.requests]]\n\(request)", columns: 200)
        #expect(own.filter { $0.contains(": error: ") }.count == 1, "\(own)")
    }

    /// Neither the number of secrets nor the length of a line makes each of a thousand mistakes slow.
    @Test(.timeLimit(.minutes(1)))
    func aThousandMistakesAreReportedAtOnce() throws {
        let many = (0..<2_000).map { number in
            """
            [[sources.s\(number).requests]]
            url = "http://127.0.0.1/"
            parser = "mirrored"
            auth = { bearer = "secret-token-\(number)" }
            wrong\(number) = "secret-token-\(number)"

            """
        }
        let secrets = try mistakes(many.joined())
        #expect(
            secrets.contains { $0.contains("and 1000 more mistakes") } && !secrets.joined().contains("secret-token"))
        let values = (0..<60_000).map { "wrong\($0) = \"é\"" }.joined(separator: ", ")
        let line = try mistakes("sources = { s = { \(values) } }\n")
        #expect(
            line.contains { $0.contains("and 59001 more mistakes") || $0.contains("more mistakes") },
            "\(line.suffix(3))")
    }

    /// The name of a column with a mistake is known to the table's key.
    @Test func aColumnWithAMistakeIsStillAColumn() throws {
        let lines = try mistakes(
            "[[sources.s.requests]]\nurl = \"http://127.0.0.1/\"\n"
                + "tables = [{ table = \"t\", element = \"e\", key = [\"id\"], columns = { id = \"a[@b~='c d']\", n = \"@n\" } }]\n"
        )
        let errors = lines.filter { $0.contains(": error: ") }
        let finding = "'a[@b~='c d']' is not a path: '~=' asks for one word, at character 7"
        #expect(errors.count == 1 && errors[0].hasSuffix(finding), "\(lines)")
        #expect(lines.last == "   = help: write a condition for each, as in [@a~='x'][@a~='y']", "\(lines)")
    }

    @Test func textThatIsNotTOMLIsMarkedWhereItEnds() throws {
        #expect(
            try mistakes("[store]\npath = \"a\" \"b\"\n").prefix(3) == [
                "s.toml:2:12: error: this is not TOML: '\"' after the value",
                " 2 | path = \"a\" \"b\"", "   |            ^",
            ])
        let end = try mistakes("[store]\npath = ")
        #expect(end.count >= 3 && end[1] == " 2 | path = " && end[2] == "   |        ^", "\(end)")
    }

    @Test func theMarkIsRightBehindTabsAndWideCharacters() throws {
        let tabs = try mistakes("[store]\n\tpath\t= 1\n")
        #expect(tabs[1] == " 2 |     path    = 1" && tabs[2] == "   |               ^", "\(tabs)")
        let wide = try mistakes("[store]\n\"東京\" = 1\n")
        #expect(wide[1] == " 2 | \"東京\" = 1" && wide[2] == "   | ^^^^^^", "\(wide)")
    }

    @Test(arguments: [40, 60, 80]) func aLongLineIsCutAroundTheMark(columns: Int) throws {
        let names = (0..<40).map { "column\($0) = \"@c\($0)\"" }.joined(separator: ", ")
        let text =
            "[[sources.s.requests]]\nurl = \"http://127.0.0.1/\"\n"
            + "tables = [{ table = \"t\", element = \"e\", columns = { \(names), wrong = 1, \(names.replacing("column", with: "other")) } }]\n"
        let lines = try mistakes(text, columns: columns)
        let (line, mark) = (Array(lines[1]), Array(lines[2]))
        #expect(line.count <= columns && mark.count <= columns, "\(lines)")
        let place = try #require(mark.firstIndex(of: "^"))
        #expect(line[place] == "1" && String(line).contains("…"), "\(lines)")
    }

    @Test func secretsThatAreWrittenInTheFileAreNotShown() throws {
        let lines = try mistakes(
            """
            [sources.s]
            [[sources.s.requests]]
            url = "http://ann:hunter2@127.0.0.1/x"
            auth = { basic = { user = "ann", password = "hunter2", pasword = "hunter2" } }
            headers = { Authorization = "Bearer hunter2", "X-Api-Key" = 'hunter2', wrong = [] }
            parser = "nothing"
            author = "known"
            """)
        #expect(!lines.joined().contains("hunter2"), "\(lines)")
        #expect(lines.contains { $0.contains("user = \"ann\", password = \"*******\"") }, "\(lines)")
        #expect(lines.contains { $0.hasSuffix("author = \"known\"") }, "\(lines)")
    }

    /// A value that is refused is not repeated with the secrets in it, whichever the key and whatever is wrong with it.
    @Test(arguments: [
        "[store]\nurl = \"postgres//ann:hunter2-x@db/x\"\n",
        "[store]\nurl = 1\nschema = \"host=db password=hunter2-x\"\n",
        "[store]\nurl = \"host=db password=hunter2-x nonsense\"\nx = 1\n",
        "[store]\npath = \"http://ann:hunter2-x@db/x\"\n",
        "[defaults]\nproxy = \"ftp://ann:hunter2-x@proxy:3128\"\n",
        "[defaults]\nproxy = \"ann:hunter2-x@proxy:3128\"\n",
        "[defaults]\nproxy = \"http://ann:hunt/hunter2-x@proxy:3128\"\n",
        "[defaults]\nheaders = { \"X-Any\" = \"hunter2-x\\n\", \"X Any\" = \"hunter2-x\" }\n",
        "[defaults]\nauth = { bearer = { tokn = \"hunter2-x\" } }\n", "[defaults]\nauth = \"hunter2-x\"\n",
        "[hooks.h]\non = [\"changed\"]\npost = \"htp://ann:hunter2-x@hook/?a=b\"\n",
        "[hooks.h]\non = [\"changed\"]\npost = \"http://hook /?token=hunter2-x\"\n",
        "[hooks.h]\non = [\"changed\"]\npost = \"http://hook/\"\nsecret = [\"hunter2-x\"]\n",
        "[hooks.h]\non = [\"hunter2-x://ann:hunter2-x@hook\"]\nrun = [\"/bin/true\"]\n",
        "[daemon]\nweb = \"http://ann:hunter2-x@127.0.0.1:80\"\n", "[daemon]\nweb_token = hunter2-x\n",
        "[[sources.s.requests]]\nurl = \"htp://ann:hunter2-x@h/\"\nparser = \"mirrored\"\n",
        "[[sources.s.requests]]\nurl = \"http://ann:hun/hunter2-x@h/\"\nparser = \"mirrored\"\n",
        "[[sources.s.requests]]\nurl = \"http://h /?api_key=hunter2-x\"\nparser = \"mirrored\"\n",
        "[[sources.s.requests]]\nurl = \"http://h/\"\nparser = \"http://ann:hunter2-x@h/\"\nformat = \"?key=hunter2-x\"\n",
        "[[sources.s.requests]]\nurl = \"http://h/\"\nparser = \"mirrored\"\nmethod = \"PUT //ann:hunter2-x@h/\"\n",
        "[defaults]\ntls = { key_password = \"\"\"\nfirst\nhunter2-x\"\"\", wrong = 1 }\n",
        "[defaults]\nbody = \"<a><Password>hunter2-x</Password></a>\"\nbdy = \"<a><Password>hunter2-x</Password></a>\"\n",
        "[defaults]\nparameters = { key = \"hunter2-x\", appid = \"hunter2-x\", q = [\"hunter2-x\"] }\n",
        "password = hunter2-x\n", "[sources.s]\ncache = \"sftp://ann:hunter2-x@h\"\nurl = \"http://ann:hunter2-x@h\"\n",
    ])
    func noMessageRepeatsASecret(text: String) async throws {
        try await withTemporaryFolder { (folder) async throws in
            try folder.write(text, to: "sources.toml")
            let program = BuiltProgram("tributary", config: folder.file("sources.toml"))
            for isJSON in [false, true] {
                let output = try await isJSON ? program.run("check", "--json") : program.run("check")
                #expect(!(output.standardError + output.standardOutput).contains("hunter2-x"), "\(output)")
            }
        }
    }

    @Test func everyCommandPrintsThemAndJSONHasThem() async throws {
        try await withTemporaryFolder { (folder) async throws in
            try folder.write(request + "[sources.s]\nenabeld = true\n[store]\nconnections = 0\n", to: "sources.toml")
            let program = BuiltProgram("tributary", config: folder.file("sources.toml"))
            let check = try await program.run("check")
            #expect(check.status == 78 && check.standardOutput == "", "\(check)")
            #expect(check.standardError.contains(":5:1: error: sources.s.enabeld: unknown key\n 5 | enabeld = true\n"))
            #expect(
                check.standardError.hasSuffix("tributary: 2 mistakes in \(folder.file("sources.toml"))\n"), "\(check)")
            for command in ["sync", "status", "run", "history"] {
                let output = try await program.run(command)
                #expect(output.status == 78 && output.standardError == check.standardError, "\(command): \(output)")
            }
            struct Output: Decodable {
                struct Mistake: Decodable {
                    var file: String
                    var line: Int
                    var column: Int
                    var end_column: Int
                    var key: String
                    var message: String
                    var help: String?
                }
                var problems: [String]
                var mistakes: [Mistake]
            }
            let json = try await program.run("check", "--json")
            let found = try JSONDecoder().decode(Output.self, from: Data(json.standardOutput.utf8))
            #expect(
                found.problems.first?.hasSuffix(":5: sources.s.enabeld: unknown key; did you mean 'enabled'?") ?? false)
            let first = try #require(found.mistakes.first)
            #expect(
                (first.line, first.column, first.end_column) == (5, 1, 8) && first.help == "did you mean 'enabled'?")
        }
    }

    @Test func aFileThatIsMissingSaysWhatMakesOne() async throws {
        try await withTemporaryFolder { (folder) async throws in
            let output = try await BuiltProgram("tributary", config: folder.file("s.toml")).run("status")
            #expect(output.status == 78, "\(output)")
            #expect(
                output.standardError.hasSuffix(
                    "s.toml: the file does not exist; the command `init` makes a first one\n"))
        }
    }
}
