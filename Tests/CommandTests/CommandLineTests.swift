import Foundation
import TestSupport
import Testing

/// What holds for every command: where the configuration is, how errors begin, and what `--help` shows.
@Suite(.timeLimit(.minutes(5))) struct CommandLineTests {
    private static let configuration = """
        [[sources.rivers.requests]]
        url = "http://127.0.0.1:1/"
        tables = [{ table = "item", element = "item", key = ["id"], columns = { id = "@id" } }]
        """

    /// Runs the program with these arguments alone, in a folder.
    private func run(
        _ arguments: String..., in folder: TemporaryFolder, environment: [String: String] = [:]
    ) async throws -> BuiltProgram.Output {
        let program = BuiltProgram("tributary", config: "").path
        let shell = BuiltProgram(
            path: "/bin/sh", environment: ["PATH": "/usr/bin:/bin"].merging(environment) { $1 })
        let words = ["exec '\(program)'"] + arguments.map { "'\($0)'" }
        return try await shell.run("-c", "cd '\(folder.path)' && \(words.joined(separator: " "))")
    }

    @Test func theConfigurationIsNamedByOptionVariableOrFolder() async throws {
        try await withTemporaryFolder { (folder) async throws in
            let named = try folder.write(Self.configuration, to: "named.toml")
            let variable = ["TRIBUTARY_CONFIG": named]
            for arguments in [["-c", named, "check"], ["check", "-c", named], ["check", "--config", named]] {
                let output = try await run(arguments[0], arguments[1], arguments[2], in: folder)
                #expect(output.status == 0 && output.standardOutput.hasPrefix("\(named): 1 source"), "\(output)")
            }
            let output = try await run("check", in: folder, environment: variable)
            #expect(output.status == 0 && output.standardOutput.hasPrefix("\(named): 1 source"), "\(output)")
            try folder.write(Self.configuration, to: "sources.toml")
            let here = try await run("check", in: folder, environment: ["TRIBUTARY_CONFIG": ""])
            #expect(here.standardOutput.hasPrefix("sources.toml: 1 source"), "\(here)")
            let option = try await run("check", "-c", "sources.toml", in: folder, environment: variable)
            #expect(option.standardOutput.hasPrefix("sources.toml: 1 source"), "\(option)")
        }
    }

    @Test func errorsBeginWithTheProgramsNameAndSayWhatWasMeant() async throws {
        try await withTemporaryFolder { (folder) async throws in
            try folder.write(Self.configuration, to: "sources.toml")
            let command = try await run("stauts", in: folder)
            #expect(command.status == 64, "\(command)")
            let isNearest = command.standardError == "tributary: there is no command 'stauts'; did you mean 'status'?\n"
            #expect(isNearest, "\(command)")
            let behind = try await run("-c", "sources.toml", "snyc", in: folder)
            #expect(behind.standardError.hasSuffix("did you mean 'sync'?\n"), "\(behind)")
            let colored = try await run("--color", "always", "status", "--bogus", in: folder)
            #expect(colored.status == 64 && colored.standardError.contains("--bogus"), "\(colored)")
            #expect(!colored.standardError.contains("there is no command"), "\(colored)")
            let far = try await run("frobnicate", in: folder)
            #expect(far.standardError.contains("`tributary --help` lists them"), "\(far)")
            for name in ["status", "sync", "plan", "tail", "export"] {
                let output = try await run(name, "rivres", in: folder)
                #expect(output.status == 64, "\(output)")
                let expected = "tributary: there is no source 'rivres' in sources.toml; did you mean 'rivers'?\n"
                #expect(output.standardError == expected, "\(output)")
            }
            let option = try await run("status", "--colour", in: folder)
            #expect(option.status == 64 && option.standardError.hasPrefix("tributary: "), "\(option)")
            #expect(!option.standardError.contains("Error:"), "\(option)")

            try folder.write("[store]\npaht = 1\n[sources.s]\nenabeld = true\n", to: "sources.toml")
            let mistakes = try await run("check", in: folder)
            #expect(mistakes.status == 78, "\(mistakes)")
            let lines = mistakes.standardError.split(separator: "\n")
            #expect(lines.count { $0.contains(": error: ") } == 3, "\(mistakes)")
            #expect(lines.last == "tributary: 3 mistakes in sources.toml", "\(mistakes)")
        }
    }

    @Test func quietPrintsOnlyErrorsAndVerboseEachRequest() async throws {
        try await withTemporaryFolder { (folder) async throws in
            try folder.write("<l><item id='1'/></l>", to: "feed.xml")
            let text = Self.configuration.replacing("http://127.0.0.1:1/", with: "file://\(folder.file("feed.xml"))")
            try folder.write(text, to: "sources.toml")
            for line in [["check", "-q"], ["plan", "rivers", "--quiet"], ["sync", "-q"], ["status", "-q"]] {
                let output = try await BuiltProgram("tributary", config: folder.file("sources.toml")).start(line)
                    .output()
                #expect(output.standardOutput == "" && output.standardError == "", "\(line): \(output)")
                #expect(output.status == (line[0] == "plan" ? 2 : 0), "\(line): \(output)")
            }
            let sync = try await run("sync", "--force", "--verbose", in: folder)
            #expect(sync.standardOutput.contains("\n    request 1: unchanged"), "\(sync)")
            let history = try await run("history", "-v", in: folder)
            #expect(history.standardOutput.contains("\n    request 1: parsed (200), 21 B in "), "\(history)")
            let both = try await run("check", "-q", "-v", in: folder)
            #expect(both.status == 64, "\(both)")
        }
    }

    @Test func recordsThatOthersReplacedAreCountedEverywhere() async throws {
        try await withTemporaryFolder { (folder) async throws in
            try folder.write("<l><item id='1'/><item id='2'/><item id='1'/><item id='1'/></l>", to: "feed.xml")
            let text = Self.configuration.replacing("http://127.0.0.1:1/", with: "file://\(folder.file("feed.xml"))")
            try folder.write(text, to: "sources.toml")
            let json = try await run("sync", "--json", in: folder).standardOutput
            #expect(json.contains("\"inserted\":2") && json.contains("\"replaced\":2"), "\(json)")
            let history = try await run("history", in: folder).standardOutput
            #expect(history.contains("\n    2 records replaced by others with the same key\n"), "\(history)")
            let runs = try await run("history", "--json", in: folder).standardOutput
            #expect(runs.contains("\"replaced\":2"), "\(runs)")
        }
    }

    @Test func helpIsGroupedAndEachCommandHasAnExample() async throws {
        try await withTemporaryFolder { (folder) async throws in
            let help = try await run("--help", in: folder).standardOutput
            let groups = ["DAILY", "START", "RUN", "LOOK", "DECIDE", "KEEP"]
            let lines = help.split(separator: "\n").map { $0.uppercased() }
            let places = groups.compactMap { group in lines.firstIndex { $0.hasPrefix("\(group) ") } }
            #expect(places.count == groups.count && places == places.sorted(), "\(help)")
            let names = help.matches(of: #/(?m)^  ([a-z][a-z-]+)  /#).map { String($0.1) }
            #expect(names.count >= 22, "\(names)")
            for name in names where name != "hook" {
                let text = try await run("help", name, in: folder).standardOutput
                #expect(text.contains("tributary \(name)"), "\(text)")
                #expect(text.contains("Example"), "\(name): \(text)")
                let wide = text.split(separator: "\n").filter { $0.count > 80 }
                #expect(wide.isEmpty, "\(wide)")
            }
        }
    }
}
