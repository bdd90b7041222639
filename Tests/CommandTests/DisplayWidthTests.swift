import Foundation
import Testing

@testable import TributaryCommands
@testable import TributaryEngine

/// Columns of a terminal, and names for the shell's completion.
@Suite struct DisplayWidthTests {
    @Test func wideCharactersTakeTwoColumnsAndMarksNone() {
        for (text, width) in [
            ("shop", 4), ("Zürich", 6), ("Zu\u{0308}rich", 6), ("東京", 4), ("ﾊﾝｶｸ", 4), ("한국", 4), ("a\u{200B}b", 2),
            ("😀", 2),
            ("❤\u{FE0F}", 2), ("", 0),
        ] { #expect(text.displayWidth == width, "\(text)") }
        #expect("東京".padded(to: 6) == "東京  " && "東京".padded(to: 3) == "東京")
        #expect("東京都".prefix(columns: 5) == "東京" && "abc".prefix(columns: 2) == "ab")
    }

    @Test func tablesAlignWideNames() {
        var table = TextTable([("SOURCE", .left), ("STATE", .left)])
        table.add(["東京都庁", "ok"])
        table.add(["shop", "failing"])
        let lines = table.lines(on: Terminal(environment: ["TERM": "dumb"])).map(\.text)
        #expect(lines == ["SOURCE    STATE", "東京都庁  ok", "shop      failing"])
    }

    private func withTerminal(columns: Int, _ body: (Terminal) throws -> Void) throws {
        let descriptor = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        defer { close(descriptor) }
        var size = winsize(ws_row: 24, ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        let code = ioctl(descriptor, UInt(TIOCSWINSZ), &size)
        #expect(code == 0)
        try body(Terminal(descriptor: descriptor, environment: ["TERM": "dumb"]))
    }

    @Test func textsAreBrokenAtBlanks() throws {
        let text = "one two three four five six seven"
        try withTerminal(columns: 24) { terminal in
            #expect(
                terminal.wrapped(text, after: "", indent: 4).map(\.text) == [
                    "one two three four five", "    six seven",
                ])
            #expect(
                terminal.wrapped(text, after: "  ", indent: 4).map(\.text) == [
                    "  one two three four", "    five six seven",
                ])
            // The colour takes no column, and a lead that fills the line stands alone.
            let lead = "a/file/of/the/name:1: " + TerminalLine("e:").colored(.red) + " "
            #expect(
                terminal.wrapped("message", after: lead, indent: 4).map(\.text) == [
                    "a/file/of/the/name:1: \u{1B}[31me:\u{1B}[0m", "    message",
                ])
        }
        let plain = Terminal(descriptor: -1, environment: [:]).wrapped(text, after: "  ", indent: 4)
        #expect(plain.map(\.text) == ["  " + text])
    }

    @Test func aNarrowTableLeavesColumnsOutInTurn() throws {
        var table = TextTable([("A", .left), ("B", .right), ("C", .right)], dispensable: [2, 1])
        table.add(["aaaaaa", "bbbbbb", "cccccc"])
        for (columns, shown) in [(22, "aaaaaa  bbbbbb  cccccc"), (21, "aaaaaa  bbbbbb"), (13, "aaaaaa")] {
            try withTerminal(columns: columns) { terminal in
                let line = table.lines(on: terminal)[1].text
                #expect(line == shown)
            }
        }
    }

    @Test func aNarrowBarEndsWithAWholePart() {
        let progress = RunProgress(
            source: "shop", request: "prices", requestNumber: 1, requestCount: 2, bytes: 50_000, totalBytes: 100_000,
            rows: 12)
        func bar(_ columns: Int) -> String {
            ProgressDisplay.bar(progress, after: 1, sourceWidth: 4, columns: columns)
        }
        #expect(bar(100).hasSuffix("  1/2 prices  12 rows") && bar(100).count { $0 == "█" } == 12)
        for columns in 30..<100 {
            let text = bar(columns)
            let ends = ["50.0 kB", "/s", "left", "prices", "rows"]
            #expect(text.displayWidth < columns && ends.contains(where: text.hasSuffix), "\(columns): \(text)")
        }
    }

    @Test func namesCompleteFromTheHeadingsOfAFile() {
        let text = """
            [sources.shop]
            cache = "1h"
              [[ sources . "two words" . requests ]]
            [[sources.shop.requests]]
            # [sources.none]
            [hooks.mail]
            x = [sources]
            """
        #expect(DeclaredNames.names(in: "sources", text) == ["shop", "two words"])
        #expect(DeclaredNames.names(in: "hooks", text) == ["mail"])
    }
}
