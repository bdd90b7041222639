import Foundation
import TestStores
import TestSupport
import Testing

/// Commands that change rows or the store beyond a refresh: what they show, whom they ask, and how they end.
@Suite(.timeLimit(.minutes(5))) struct ConfirmationTests {
    private static let script = "/usr/bin/script"

    private struct Fixture {
        let folder: TemporaryFolder

        var program: BuiltProgram { BuiltProgram("tributary", config: folder.file("sources.toml")) }

        func write(_ titles: [String]) throws {
            let items = titles.enumerated().map { "<item id=\"\($0.offset)\"><title>\($0.element)</title></item>" }
            try folder.write("<items>\(items.joined())</items>", to: "feed.xml")
        }

        func declare(type: String = "text", store: String = "store.sqlite") throws {
            try folder.write(
                """
                [store]
                path = "\(store)"
                [sources.s]
                keep_history = true
                [[sources.s.requests]]
                url = "file://\(folder.file("feed.xml"))"
                keep_bodies = 2
                max_deleted = 1
                sync = "mirror"
                [[sources.s.requests.tables]]
                table = "item"
                element = "item"
                key = ["id"]
                columns = { id = "@id", title = { path = "title", type = "\(type)" } }
                """, to: "sources.toml")
        }

        func rows() throws -> [String] {
            try dumpRows(path: folder.file("store.sqlite")).filter { $0.hasPrefix("item:") }
        }

        /// Runs a command on a terminal of its own, on which this is typed.
        ///
        /// - Parameter text: nil for the end of the input.
        func onTerminal(_ command: String, typing text: String?) async throws -> BuiltProgram.Output {
            let shell = BuiltProgram(path: "/bin/sh", environment: ["PATH": "/usr/bin:/bin", "TERM": "dumb"])
            let line = "'\(program.path)' \(command) --config '\(folder.file("sources.toml"))'"
            let script = "\(ConfirmationTests.script) -qec \"\(line)\" /dev/null"
            return try await shell.run("-c", text.map { "printf '\($0)\\n' | \(script)" } ?? "\(script) < /dev/null")
        }
    }

    /// A store after two runs: the second changed a title.
    private func withFixture(_ body: (Fixture) async throws -> Void) async throws {
        try await withTemporaryFolder { (folder) async throws in
            let fixture = Fixture(folder: folder)
            try fixture.declare()
            try fixture.write(["1", "2", "4"])
            #expect(try await fixture.program.run("sync").status == 0)
            try fixture.write(["3", "2", "4"])
            #expect(try await fixture.program.run("sync", "--force").status == 0)
            try await body(fixture)
        }
    }

    /// A misspelt name is no source without changes; one that is no longer declared has its runs.
    @Test func undoKnowsItsSources() async throws {
        try await withFixture { (fixture) async throws in
            let before = try fixture.rows()
            for options in [["--yes"], ["--dry-run"], []] {
                let output = try await fixture.program.start(["undo", "nope"] + options).output()
                #expect(output.status == 64, "\(options): \(output)")
                #expect(output.standardError.contains("there is no source 'nope' in "), "\(options): \(output)")
                #expect(output.standardError.contains("it has: s"), "\(options): \(output)")
            }
            #expect(try fixture.rows() == before)
            let declaration = try String(contentsOfFile: fixture.folder.file("sources.toml"), encoding: .utf8)
            try fixture.folder.write(
                declaration.replacingOccurrences(of: "sources.s", with: "sources.other"), to: "sources.toml")
            let former = try await fixture.program.run("undo", "s", "--dry-run")
            #expect(former.status == 2 && former.standardOutput.contains("title \"3\" → \"1\""), "\(former)")
        }
    }

    @Test func withoutATerminalNothingIsChanged() async throws {
        try await withFixture { (fixture) async throws in
            let copy = fixture.folder.file("copy.sqlite")
            #expect(try await fixture.program.run("backup", copy).status == 0)
            let before = try fixture.rows()
            let commands = [
                ["undo", "s"], ["replay", "s"], ["purge", "s"], ["restore", copy],
                ["accept", "s", "--in-advance"], ["move-store", "--to", fixture.folder.file("new.sqlite")],
            ]
            for command in commands {
                for options in [[], ["--json"]] {
                    let output = try await fixture.program.start(command + options).output()
                    #expect(output.status == 64, "\(command): \(output)")
                    let isSaid = output.standardError.contains("nothing was changed: without a terminal")
                    #expect(isSaid && output.standardError.hasPrefix("tributary: "), "\(command): \(output)")
                }
            }
            let both = try await fixture.program.run("undo", "s", "--yes", "--dry-run")
            #expect(both.status == 64, "\(both)")
            #expect(try fixture.rows() == before)
            #expect(!FileManager.default.fileExists(atPath: fixture.folder.file("new.sqlite")))
        }
    }

    @Test func wrongUsageIsNamed() async throws {
        try await withFixture { (fixture) async throws in
            let table = try await fixture.program.run("changes", "s", "--table", "itm")
            let expected = "source 's' has written no table 'itm'; did you mean 'item'?"
            #expect(table.status == 64 && table.standardError.contains(expected), "\(table)")
            let same = try await fixture.program.run("move-store", "--to", fixture.folder.file("store.sqlite"), "--yes")
            #expect(same.status == 64 && same.standardError.contains("is the store that is declared"), "\(same)")
            #expect(try await fixture.program.run("pause", "s").status == 0)
            let refresh = try await fixture.program.run("refresh", "s")
            let isSaid = refresh.standardError.contains("s is paused; `tributary resume s` runs it again")
            #expect(refresh.status == 1 && isSaid, "\(refresh)")
        }
    }

    /// `move-store` leaves the history in the old store, and `keep_history` is set already.
    @Test func theHistoryBeginsWithTheMove() async throws {
        try await withFixture { (fixture) async throws in
            let program = fixture.program
            let moved = try await program.run("move-store", "--to", fixture.folder.file("new.sqlite"), "--yes")
            #expect(moved.status == 0, "\(moved)")
            try fixture.declare(store: "new.sqlite")
            let begins = "it begins with the next run that changes rows, as keep_history is set"
            let all = try await program.run("changes", "s")
            #expect(all.status == 1, "\(all)")
            #expect(all.standardError.contains("this store has no history of source 's'; \(begins)"), "\(all)")
            let first = try await program.run("changes", "s", "--run", "1")
            #expect(first.status == 1, "\(first)")
            #expect(first.standardError.contains("this store has no history of run 1; \(begins)"), "\(first)")
            let undo = try await program.run("undo", "s", "--yes")
            #expect(undo.status == 1 && undo.standardError.contains("kept no history in this store"), "\(undo)")
            try fixture.write(["7", "8", "9"])
            #expect(try await program.run("sync", "--force").status == 0)
            let later = try await program.run("changes", "s")
            #expect(later.status == 0 && later.standardOutput.contains("→ \"9\""), "\(later)")
            let former = try await program.run("changes", "s", "--run", "1")
            #expect(former.status == 1, "\(former)")
            #expect(former.standardError.hasSuffix("this store has no history of run 1\n"), "\(former)")
        }
    }

    @Test func aDryRunShowsAndChangesNothing() async throws {
        try await withFixture { (fixture) async throws in
            let copy = fixture.folder.file("copy.sqlite")
            #expect(try await fixture.program.run("backup", copy).status == 0)
            let before = try fixture.rows()
            let undo = try await fixture.program.run("undo", "s", "--dry-run")
            #expect(undo.status == 2 && undo.standardOutput.contains("title \"3\" → \"1\""), "\(undo)")
            let purge = try await fixture.program.run("purge", "s", "--dry-run")
            #expect(purge.status == 2 && purge.standardOutput.contains("3 rows to delete"), "\(purge)")
            let json = try await fixture.program.run("purge", "s", "--dry-run", "--json")
            #expect(json.status == 2 && json.standardOutput.contains("\"deleted\":3"), "\(json)")
            let restore = try await fixture.program.run("restore", copy, "--dry-run")
            #expect(restore.status == 2 && restore.standardOutput.contains(" with \(copy) ("), "\(restore)")
            let move = try await fixture.program.run(
                "move-store", "--dry-run", "--to", fixture.folder.file("new.sqlite"))
            #expect(move.status == 2 && move.standardOutput.contains("new.sqlite"), "\(move)")
            let accept = try await fixture.program.run("accept", "s", "--in-advance", "--dry-run")
            #expect(accept.status == 2 && accept.standardOutput.contains("any number of rows"), "\(accept)")
            let same = try await fixture.program.run("replay", "s", "--dry-run")
            #expect(same.status == 0, "\(same)")

            try fixture.declare(type: "integer")
            let migrate = try await fixture.program.run("migrate", "s", "--dry-run")
            #expect(migrate.status == 2 && migrate.standardOutput.contains("-- item:"), "\(migrate)")
            let refused = try await fixture.program.run("migrate", "s")
            #expect(refused.status == 64 && refused.standardOutput.contains("-- item:"), "\(refused)")
            try fixture.declare()

            #expect(try fixture.rows() == before)
            #expect(!FileManager.default.fileExists(atPath: fixture.folder.file("new.sqlite")))
        }
    }

    /// What is shown of a blocked run is what `accept` commits.
    @Test func aBlockedRunIsShownWithItsFigures() async throws {
        try await withFixture { (fixture) async throws in
            try fixture.write(["3"])
            let blocked = try await fixture.program.run("sync", "--force")
            #expect(blocked.status == 1, "\(blocked)")
            let shown = try await fixture.program.run("accept", "s", "--dry-run")
            #expect(shown.status == 2 && shown.standardOutput.contains("s: accept commits run 3:\n"), "\(shown)")
            #expect(
                shown.standardOutput.contains("will insert ") && shown.standardOutput.contains("  - id = "), "\(shown)")
            let other = try await fixture.program.run("accept", "s", "--run", "2", "--yes")
            let isSaid = other.standardError.contains("run 2 of source 's' is not blocked; run 3 is")
            #expect(other.status == 1 && isSaid, "\(other)")
            for limit in ["undo", "history"] {
                let negative = try await fixture.program.run(limit, "s", "--limit", "-1")
                let isNamed = negative.standardError.contains("--limit: a negative number is not allowed, found -1")
                #expect(negative.status == 64 && isNamed, "\(negative)")
            }
            let named = try await fixture.program.run("accept", "s", "--run", "3", "--dry-run")
            #expect(named.status == 2, "\(named)")
            #expect(try fixture.rows().count == 3)
            let again = try await fixture.program.run("sync", "--force")
            #expect(again.status == 1, "a dry run accepts nothing: \(again)")
        }
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: script), "script(1) makes the terminal"))
    func aPersonIsAsked() async throws {
        try await withFixture { (fixture) async throws in
            let before = try fixture.rows()
            for answer in ["n", "", "maybe"] {
                let no = try await fixture.onTerminal("undo s", typing: answer)
                #expect(no.status == 1 && no.standardOutput.contains("nothing was changed"), "\(no)")
                #expect(no.standardOutput.contains("title \"3\" → \"1\""), "\(no)")
                #expect(try fixture.rows() == before)
            }
            let end = try await fixture.onTerminal("undo s", typing: nil)
            #expect(end.status == 1 && end.standardOutput.contains("\ntributary: nothing was changed"), "\(end)")
            let yes = try await fixture.onTerminal("undo s", typing: "y")
            #expect(yes.status == 0 && yes.standardOutput.contains("[y/N]"), "\(yes)")
            #expect(try fixture.rows() != before)
            let purge = try await fixture.onTerminal("purge s", typing: "yes")
            #expect(purge.status == 0 && purge.standardOutput.contains("s is purged"), "\(purge)")
            #expect(try fixture.rows() == [])
        }
    }
}
