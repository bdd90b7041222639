import Foundation
import Testing

/// `Documentation/Commands.md` says what the program's own description of its arguments does.
@Suite struct CommandReferenceTests {
    private struct Help: Decodable { var command: Command }

    private struct Command: Decodable {
        struct Argument: Decodable {
            struct Name: Decodable {
                var kind: String
                var name: String
            }

            var kind: String
            var names: [Name]?
            var isOptional: Bool
        }

        var commandName: String
        var arguments: [Argument]?
        var subcommands: [Command]?

        /// The commands that do something, by their whole names.
        func leaves(_ path: [String] = []) -> [(name: String, command: Command)] {
            let inner = (subcommands ?? []).filter { $0.commandName != "help" }
            if inner.isEmpty { return [(path.joined(separator: " "), self)] }
            return inner.flatMap { $0.leaves(path + [$0.commandName]) }
        }

        /// The names of its options, without those of every command.
        var options: Set<String> {
            let names = (arguments ?? []).flatMap { $0.names ?? [] }.filter { $0.kind == "long" }.map(\.name)
            return Set(names).subtracting(["config", "color", "quiet", "verbose", "help", "version"])
        }

        var hasArguments: Bool { (arguments ?? []).contains { $0.kind == "positional" } }
    }

    private func commands() async throws -> [(name: String, command: Command)] {
        var program = BuiltProgram("tributary", config: "")
        program.arguments = []
        let output = try await program.run("--experimental-dump-help")
        return try JSONDecoder().decode(Help.self, from: Data(output.standardOutput.utf8)).command.leaves()
    }

    @Test func everyCommandAndOptionIsDescribedAndNoOther() async throws {
        let page = try MarkdownFile("Documentation/Commands.md")
        var headings: [String: MarkdownFile.Heading] = [:]
        for heading in page.headings where heading.level == 2 && heading.text.hasPrefix("`") {
            headings[heading.text.replacing("`", with: "")] = heading
        }
        let commands = try await self.commands()
        #expect(Set(commands.map(\.name)) == Set(headings.keys))
        for (name, command) in commands {
            guard let heading = headings[name] else { continue }
            let section = page.section(of: heading)
            let listed = section.compactMap { $0.firstMatch(of: /^- `--([a-z-]+)`/).map { String($0.1) } }
            #expect(Set(listed) == command.options, "the options of '\(name)'")
            let synopsis = section.first { $0.hasPrefix("tributary \(name)") } ?? ""
            let written = synopsis.matches(of: /--([a-z-]+)/).map { String($0.1) }
            #expect(Set(written) == command.options, "the synopsis of '\(name)': \(synopsis)")
            let rest = synopsis.dropFirst("tributary \(name)".count)
                .replacing(/\[--[^\]]*\]…?|--[a-z-]+ \S+/, with: "").trimmingCharacters(in: .whitespaces)
            #expect(rest.isEmpty != command.hasArguments, "the arguments of '\(name)': \(synopsis)")
        }
    }
}
