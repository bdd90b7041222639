import Foundation
import TestSupport
import Testing

/// What commands print: fit for a terminal whatever a feed says, and an error where it cannot be written.
@Suite(.timeLimit(.minutes(10))) struct OutputTests {
    /// Everything that a terminal would act upon, and XML can hold.
    private static let hostile = "a\u{9B}31mb\u{202E}c\u{2066}d\u{200F}e\u{85}f&#13;g&#10;h&#9;i\u{7F}j"

    private struct Fixture {
        let folder: TemporaryFolder

        var program: BuiltProgram { BuiltProgram("tributary", config: folder.file("sources.toml")) }

        func write(_ titles: [String]) throws {
            let items = titles.enumerated().map { "<item id=\"\($0.offset)\"><title>\($0.element)</title></item>" }
            try folder.write("<items>\(items.joined())</items>", to: "feed.xml")
        }

        /// Runs a command in a shell.
        func shell(_ line: String) async throws -> BuiltProgram.Output {
            let environment = ["PATH": "/usr/bin:/bin", "PROGRAM": program.path, "CONFIG": folder.file("sources.toml")]
            let shell = BuiltProgram(path: "/bin/bash", environment: environment)
            let text = line.replacing("tributary ", with: "\"$PROGRAM\" ")
            return try await shell.run("-c", text)
        }
    }

    private func withFixture(_ body: (Fixture) async throws -> Void) async throws {
        try await withTemporaryFolder { (folder) async throws in
            try folder.write(
                """
                [sources.s]
                keep_history = true
                [[sources.s.requests]]
                url = "file://\(folder.file("feed.xml"))"
                sync = "mirror"
                [[sources.s.requests.tables]]
                table = "item"
                element = "item"
                key = ["id"]
                columns = { id = "@id", title = "title" }
                [sources.number]
                [[sources.number.requests]]
                url = "file://\(folder.file("feed.xml"))"
                [[sources.number.requests.tables]]
                table = "number"
                element = "item"
                columns = { title = { path = "title", type = "integer" } }
                """, to: "sources.toml")
            try await body(Fixture(folder: folder))
        }
    }

    private static let escaped = #"a\u{9B}31mb\u{202E}c\u{2066}d\u{200F}e\u{85}f\rg\nh\ti\u{7F}j"#

    private func isFit(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            switch scalar.value {
            case 0x0A: true
            case 0..<0x20, 0x7F...0x9F, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: false
            default: true
            }
        }
    }

    @Test func textsOfAFeedAreEscapedForTheTerminal() async throws {
        try await withFixture { (fixture) async throws in
            try fixture.write([Self.hostile, "b"])
            let plan = try await fixture.program.run("plan", "s")
            #expect(plan.standardOutput.contains("title = \"\(Self.escaped)\""), "\(plan)")
            let sync = try await fixture.program.run("sync")
            #expect(sync.status == 1)
            try fixture.write(["c", Self.hostile])
            let second = try await fixture.program.run("sync", "--force")
            let changes = try await fixture.program.run("changes", "s")
            #expect(changes.standardOutput.contains("title \"\(Self.escaped)\" → \"c\""), "\(changes)")
            let run = try await fixture.program.run("changes", "s", "--run", "999")
            #expect(run.status == 64 && run.standardError.contains("there is no run 999 of source 's'"), "\(run)")
            let undo = try await fixture.program.run("undo", "s", "--plan")
            #expect(undo.standardOutput.contains(Self.escaped), "\(undo)")
            let others = [
                second, try await fixture.program.run("tail"), try await fixture.program.run("status"),
                try await fixture.program.run("history"), try await fixture.program.run("history", "number"),
                try await fixture.program.run("plan", "number"), try await fixture.program.run("check"),
            ]
            for output in [plan, sync, changes, undo] + others {
                #expect(isFit(output.standardOutput) && isFit(output.standardError), "\(output)")
            }
            // A line of the feed's is none of the program's.
            #expect(!others.contains { $0.standardOutput.split(separator: "\n").contains { $0.hasPrefix("h") } })
        }
    }

    @Test func jsonIsExact() async throws {
        struct Change: Decodable {
            var new: [String: String]
        }
        try await withFixture { (fixture) async throws in
            try fixture.write([Self.hostile])
            _ = try await fixture.program.run("sync", "s")
            let output = try await fixture.program.run("changes", "s", "--json")
            let change = try JSONDecoder().decode(Change.self, from: Data(output.standardOutput.utf8))
            let text = Self.hostile.replacing("&#13;", with: "\r").replacing("&#10;", with: "\n").replacing(
                "&#9;", with: "\t")
            #expect(change.new["title"] == text)
        }
    }

    @Test func outputThatCannotBeWrittenIsAnError() async throws {
        try await withFixture { (fixture) async throws in
            try fixture.write(["a", "b"])
            for command in ["sync --force", "sync --force --json"] {
                let sync = try await fixture.shell(
                    "cd \"${CONFIG%/*}\"; tributary \(command) --config \"$CONFIG\" s > /dev/full")
                #expect(
                    sync.status == 74 && sync.standardError.contains("standard output cannot be written"), "\(sync)")
            }
            // The run went on, and is committed.
            #expect(try await fixture.program.run("history", "s").standardOutput.contains("committed"))
            try fixture.write(["c", "b"])
            for command in [
                "changes s", "changes s --json", "tail", "tail --json", "status", "status --json", "history",
                "history --json", "check", "check --json", "export s", "undo s --plan", "undo s --plan --json",
                "accept s --in-advance --yes", "accept s --in-advance --dry-run", "infer feed.xml", "plan s",
                "plan s --json",
                "backup --replace copy", "undo s --dry-run", "undo s --yes",
            ] {
                let output = try await fixture.shell(
                    "cd \"${CONFIG%/*}\"; tributary \(command) --config \"$CONFIG\" > /dev/full")
                let isSaid =
                    output.standardError == "tributary: standard output cannot be written: No space left on device\n"
                #expect(output.status == 74 && isSaid, "\(command): \(output)")
            }
            for command in ["--help", "--version", "help sync", "sync --help"] {
                let output = try await fixture.shell("cd \"${CONFIG%/*}\"; tributary \(command) > /dev/full")
                #expect(output.status == 74, "\(command): \(output)")
            }
        }
    }

    @Test func outputThatNobodyReadsEndsQuietly() async throws {
        try await withFixture { (fixture) async throws in
            try fixture.write((0..<3_000).map { "title \($0)" })
            // A pipe whose reader has ended before anything is written.
            let pipe = "cd \"${CONFIG%/*}\"; mkfifo pipe; exec 3<>pipe 4>pipe 3>&-; rm pipe; "
            for command in [
                "sync s", "changes", "changes --json", "tail", "tail --json", "plan s --full --limit 0", "export s",
                "status",
                "check", "--help",
            ] {
                let config = command == "--help" ? "" : "--config \"$CONFIG\""
                let output = try await fixture.shell(pipe + "tributary \(command) \(config) >&4")
                #expect(output.status == 0 && output.standardError == "", "\(command): \(output)")
            }
            #expect(try await fixture.program.run("history", "s").standardOutput.contains("3000"))
        }
    }
}
