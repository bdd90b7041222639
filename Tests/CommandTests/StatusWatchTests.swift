import Foundation
import TestSupport
import Testing

@testable import TributaryCommands

/// `status --watch`: what is on the screen, what keys do, and how the terminal is left.
@Suite(.timeLimit(.minutes(5))) struct StatusWatchTests {
    // MARK: - The screen

    private func screen(_ count: Int) -> WatchScreen {
        var screen = WatchScreen(onlyFailing: false)
        screen.head = "head"
        screen.table = StatusTable(
            heading: "heading", rows: (0..<count).map { ("line \($0)", ["note \($0)", "error \($0)", "more"]) })
        return screen
    }

    /// The lines of a frame without what controls the terminal.
    private func shown(_ screen: WatchScreen, height: Int) -> [String] {
        var screen = screen
        return screen.frame(height: height).replacing(#/\u{1B}\[[0-9]*[A-Za-z]/#, with: "").components(
            separatedBy: "\r\n")
    }

    @Test func aFrameHasAsManyLinesAsTheWindow() {
        for height in [1, 2, 3, 10, 24] {
            for count in [0, 1, 5, 100] {
                #expect(shown(screen(count), height: height).count == height, "\(height) \(count)")
            }
        }
        let lines = shown(screen(100), height: 5)
        #expect(
            lines.prefix(4) == ["head", "heading", "line 0", "line 1"] && lines[4].hasSuffix("0 above, 98 below"),
            "\(lines)")
    }

    /// A line may be as wide as the window: nothing is erased behind it.
    @Test func aFrameErasesNothingBehindALine() {
        var screen = screen(3)
        let frame = screen.frame(height: 5)
        #expect(frame.contains("\u{1B}[2K\u{1B}[7mline 0\u{1B}[0m\r\n\u{1B}[2Kline 1\r\n"), "\(frame)")
        #expect(!frame.contains("\u{1B}[K") && !frame.contains("\u{1B}[J"), "\(frame)")
    }

    @Test func keysSelectToTheEndAndNoFurther() {
        var screen = screen(10)
        for (key, selected, offset) in [
            (WatchScreen.Key.up, 0, 0), (.down, 1, 0), (.down, 2, 1), (.pageDown, 4, 3), (.pageDown, 6, 5),
            (.pageUp, 4, 4), (.last, 9, 8), (.down, 9, 8), (.up, 8, 8), (.first, 0, 0),
        ] {
            screen.press(key, height: 5)
            #expect(
                screen.selected == selected && screen.offset == offset, "\(key) \(screen.selected) \(screen.offset)")
        }
        screen.press(.last, height: 5)
        // A window that grows shows the end, without a gap.
        _ = screen.frame(height: 24)
        #expect(screen.offset == 0 && screen.selected == 9)
        screen.press(.failing, height: 5)
        #expect(screen.onlyFailing && screen.selected == 0)
        screen.press(.all, height: 5)
        #expect(!screen.onlyFailing)
    }

    /// What is below the sources is reached, too, and the window of a store without sources has nothing to open.
    @Test func whatFollowsTheSourcesIsReached() {
        var screen = screen(1)
        screen.table.rest = (0..<10).map { "rest \($0)" }
        screen.press(.last, height: 5)
        #expect(shown(screen, height: 5)[3] == "rest 9")
        screen.table = StatusTable()
        screen.press(.open, height: 5)
        #expect(!screen.isOpen)
    }

    /// 25 sources fit into 80 × 30, with the first lines about the selected one; Enter shows all of them.
    @Test func theSelectedSourceIsExplained() {
        var screen = screen(25)
        screen.press(.down, height: 30)
        let list = shown(screen, height: 30)
        #expect(list[26] == "line 24" && list[27] == "note 1" && list[28] == "error 1", "\(list)")
        screen.press(.open, height: 30)
        let source = shown(screen, height: 30)
        #expect(source.prefix(6) == ["head", "heading", "line 1", "note 1", "error 1", "more"], "\(source)")
        screen.press(.open, height: 30)
        #expect(!screen.isOpen && shown(screen, height: 30) == list)
    }

    @Test func keysOfATerminalAreUnderstood() {
        #expect(
            WatchScreen.keys(in: Array("jk\u{1B}[A\u{1B}OB\u{1B}[5~q".utf8)) == [
                .down, .up, .up, .down, .pageUp, .quit,
            ])
        #expect(WatchScreen.keys(in: Array("\u{3}x\u{1B}[200~f\r".utf8)) == [.quit, .failing, .open])
        #expect(WatchScreen.keys(in: []) == [])
    }

    // MARK: - The terminal

    private func withStore(_ body: (TemporaryFolder) async throws -> Void) async throws {
        try await withTemporaryFolder { (folder) async throws in
            try folder.write("<l><e id='1'/></l>", to: "feed.xml")
            try folder.write(
                """
                [sources.good]
                [[sources.good.requests]]
                url = "file://\(folder.file("feed.xml"))"
                tables = [{ table = "e", element = "e", key = ["id"], columns = { id = "@id" } }]
                [sources.bad]
                [[sources.bad.requests]]
                url = "file://\(folder.file("nothing.xml"))"
                tables = [{ table = "f", element = "e", key = ["id"], columns = { id = "@id" } }]
                """, to: "sources.toml")
            _ = try await BuiltProgram("tributary", config: folder.file("sources.toml")).run("sync")
            try await body(folder)
        }
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/script")))
    func itHasTheWholeWindowAndGivesItBack() async throws {
        try await withStore { (folder) async throws in
            let program = BuiltProgram("tributary", config: "").path
            let shell = BuiltProgram(path: "/bin/sh", environment: ["PATH": "/usr/bin:/bin", "TERM": "xterm"])
            for quit in ["q", "\\003"] {
                let line =
                    "stty rows 12 cols 60; '\(program)' status --watch --interval 1 -c '\(folder.file("sources.toml"))'; echo ended $?; stty -a"
                // The key is pressed once the screen is there.
                let log = folder.file("log")
                let press = "until grep -q '1049h' '\(log)' 2>/dev/null; do sleep 0.02; done; printf '\(quit)'"
                let output = try await shell.run(
                    "-c", "rm -f '\(log)'; (\(press)) | /usr/bin/script -qefc \"\(line)\" '\(log)'")
                let text = output.standardOutput
                #expect(text.contains("\u{1B}[?1049h") && text.contains("1 failing, 1 ok"), "\(text)")
                // A failed run is a tall bar.
                #expect(text.contains("RUNS") && text.contains("█") && text.contains("▅"), "\(text)")
                let end = try #require(text.range(of: "\u{1B}[?1049l"))
                let after = text[end.upperBound...]
                #expect(after.contains("ended 0"), "\(text)")
                #expect(after.contains("icanon") && !after.contains("-icanon") && !after.contains("-isig"), "\(after)")
                #expect(after.contains(" echo "), "\(after)")
                #expect(text[..<end.lowerBound].hasSuffix("\u{1B}[?7h\u{1B}[?25h"), "\(text)")
            }
        }
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/script")))
    func aChangedConfigurationIsReadAgain() async throws {
        try await withStore { (folder) async throws in
            let program = BuiltProgram("tributary", config: "").path
            let shell = BuiltProgram(path: "/bin/sh", environment: ["PATH": "/usr/bin:/bin", "TERM": "xterm"])
            let (file, log) = (folder.file("sources.toml"), folder.file("log"))
            let line = "stty rows 12 cols 60; '\(program)' status --watch --interval 1 -c '\(file)'"
            func until(_ text: String) -> String {
                "until grep -q '\(text)' '\(log)' 2>/dev/null; do sleep 0.02; done"
            }
            try folder.write(
                "\n[sources.new]\nenabled = false\n[[sources.new.requests]]\nurl = \"file:///new.xml\"\n"
                    + "tables = [{ table = \"n\", element = \"e\", key = [\"id\"], columns = { id = \"@id\" } }]\n",
                to: "new")
            let steps = [
                until("2 sources"), "printf '\\n[\\n' >> '\(file)'", until("sources.toml:"),
                "sed -i '$d' '\(file)'", "cat '\(folder.file("new"))' >> '\(file)'", until("3 sources"), "printf q",
            ].joined(separator: "; ")
            let output = try await shell.run("-c", "(\(steps)) | /usr/bin/script -qefc \"\(line)\" '\(log)'")
            #expect(output.status == 0 && output.standardOutput.contains("1 failing, 1 ok, 1 disabled"), "\(output)")
        }
    }

    @Test func withoutATerminalItIsRefused() async throws {
        try await withStore { (folder) async throws in
            let program = BuiltProgram("tributary", config: folder.file("sources.toml"))
            let output = try await program.run("status", "--watch")
            #expect(output.status == 64 && output.standardError.contains("--watch needs a terminal"), "\(output)")
            let json = try await program.run("status", "--watch", "--json")
            #expect(json.status == 64, "\(json)")
            // A name after the flag is a source.
            let source = try await program.run("status", "--watch", "nothing")
            #expect(source.status == 64 && source.standardError.contains("'nothing'"), "\(source)")
            let alone = try await program.run("status", "--interval", "5")
            #expect(alone.status == 64 && alone.standardError.contains("--interval requires --watch"), "\(alone)")
        }
    }

    // MARK: - The width of a terminal

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/script")), arguments: [50, 60, 80, 100])
    func statusAndHistoryKeepWithinTheWindow(columns: Int) async throws {
        try await withStore { (folder) async throws in
            let program = BuiltProgram("tributary", config: "").path
            let shell = BuiltProgram(path: "/bin/sh", environment: ["PATH": "/usr/bin:/bin", "TERM": "dumb"])
            for command in columns < 60 ? ["history"] : ["status", "history"] {
                let line = "stty rows 24 cols \(columns); '\(program)' \(command) -c '\(folder.file("sources.toml"))'"
                let output = try await shell.run("-c", "/usr/bin/script -qec \"\(line)\" /dev/null < /dev/null")
                let lines = output.standardOutput.components(separatedBy: "\r\n")
                let words = lines.filter { $0.count > columns && $0.drop { $0 == " " }.contains(" ") }
                #expect(lines.count > 3 && words.isEmpty, "\(output)")
            }
        }
    }
}
