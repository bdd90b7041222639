import Testing

@testable import TributaryCommands

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
