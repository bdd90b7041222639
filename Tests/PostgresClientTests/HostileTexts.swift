/// Texts that quoting, escaping or splitting might break.
let hostileTexts = [
    "", " ", "NULL", "null", "\\N", "\\.", "\"", "\\", "'", "''", "{}", "{", "}", ",", "a,b", "a\"b\\c", "\t", "\n",
    "\r", "\r\n",
    "a\tb\nc\rd\\e", "\u{1}\u{8}\u{B}\u{C}\u{1F}\u{7F}", "é", "e\u{301}", "'\u{301}", "\"\u{301}\\\u{301}", "日本語", "👩‍👩‍👧",
    "\u{FFFF}",
    "\u{10FFFF}", "\u{FEFF}x", "\\x41", "\\t", "$1", "--", "/*", String(repeating: "x", count: 300_000),
    String(repeating: "\\\"", count: 70_000),
]
