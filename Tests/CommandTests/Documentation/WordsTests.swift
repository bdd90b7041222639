import FeedConfiguration
import Foundation
import Testing

/// One word for each thing: words that the documentation, the descriptions of keys, the commands and messages no longer use.
///
/// `Documentation/HowTo/glossary.md` has the words that they do use.
@Suite struct WordsTests {
    /// A word or phrase, as a pattern of whole words in any case, and what to write in its place.
    private struct Retired {
        var pattern: String
        var instead: String
    }

    private static let retired = [
        Retired(pattern: "held back|(is|are|was|were) held", instead: "blocked, paused"),
        Retired(pattern: "(tributary |/api/)release", instead: "resume"),
        Retired(pattern: "`release|`held` (run|source|event)s?", instead: "resume, blocked or paused"),
        Retired(pattern: "journal(s|led|ed)?", instead: "changelog"),
        Retired(pattern: "twins?", instead: "duplicates"),
        Retired(pattern: "fuse", instead: "change limit"),
        Retired(pattern: "(is|are|be) told", instead: "receives, is notified, reported"),
        Retired(pattern: "told (by|of)", instead: "receives, delivered, reported"),
        Retired(pattern: "there is none", instead: "absent, without, does not exist"),
        Retired(pattern: "(is|declared|asked) no more", instead: "no longer"),
        Retired(pattern: "declared differently", instead: "with a changed declaration"),
        Retired(pattern: "lets it go", instead: "ends the pause"),
        Retired(pattern: "(that|which) (are|is) there", instead: "existing"),
        Retired(pattern: "whoever", instead: "the one who does it"),
        Retired(pattern: "somebody else", instead: "another program, another user"),
        Retired(pattern: "all over again", instead: "again"),
        Retired(pattern: "anew", instead: "again, in full"),
        Retired(pattern: "from what to what", instead: "old and new values"),
        Retired(pattern: "how each source stands", instead: "the state of each source"),
        Retired(pattern: "has (a|no) meaning (only|for)", instead: "requires, has no effect on"),
        Retired(pattern: "mend(s|ed|ing)?", instead: "repair, correct, fix"),
        Retired(pattern: "what (becomes|stands|comes) of", instead: "the treatment, the result"),
        Retired(pattern: "(is|are) looked at", instead: "checked, read"),
        Retired(pattern: "all is well", instead: "the condition is true, the check succeeds"),
        Retired(pattern: "comes to", instead: "is, amounts to"),
        Retired(pattern: "stands still", instead: "hangs"),
        Retired(pattern: "as it stands", instead: "unchanged, as written"),
        Retired(pattern: "nobody (listens|asked|answered)", instead: "nothing listens, without a request, no response"),
        Retired(pattern: "(for good|is declared), which is asked", instead: "permanently, is used"),
        Retired(pattern: "(is|are) told apart", instead: "distinguished"),
        Retired(pattern: "wants? it", instead: "requires, expects"),
        Retired(pattern: "cannot be asked", instead: "cannot be used"),
        Retired(pattern: "told", instead: "notified, reported, delivered, distinguished"),
        Retired(pattern: "patience", instead: "time limit, timeout"),
        Retired(pattern: "besides", instead: "also, in addition"),
        Retired(pattern: "under way", instead: "in progress"),
        Retired(pattern: "stays? in force|in force", instead: "current, active, in scope"),
        Retired(pattern: "for good", instead: "permanently"),
        Retired(pattern: "once more", instead: "again"),
        Retired(pattern: "(signs? of life)", instead: "heartbeat"),
        Retired(pattern: "does it without asking", instead: "confirms"),
        Retired(pattern: "what it (would|will) become", instead: "its rows, its result"),
    ]

    @Test func pagesDoNotHaveThem() throws {
        for page in try MarkdownFile.all()
        where page.path.hasPrefix("Documentation/") || ["README.md", "CONTRIBUTING.md"].contains(page.path) {
            for (index, line) in page.lines.enumerated() {
                Self.expectNone(in: line, "\(page.path):\(index + 1)")
            }
        }
    }

    @Test func descriptionsOfKeysDoNotHaveThem() throws {
        for table in KeyTable.all {
            Self.expectNone(in: table.meaning, table.path)
            for entry in table.entries {
                Self.expectNone(
                    in: entry.meaning, "\(table.path).\(entry.name)")
            }
        }
    }

    /// Looks at the lines of the commands' sources, which have their help and their messages, but not at comments; and at
    /// the texts of the other sources.
    @Test func commandsAndMessagesDoNotHaveThem() throws {
        let path = MarkdownFile.root.appendingPathComponent("Sources").path
        let files = try FileManager.default.subpathsOfDirectory(atPath: path).filter { $0.hasSuffix(".swift") }
        #expect(files.count > 300)
        for file in files {
            let text = try String(contentsOfFile: "\(path)/\(file)", encoding: .utf8)
            let isCommand = file.hasPrefix("TributaryCommands/")
            for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                let code = line.drop { $0 == " " }
                guard !code.hasPrefix("//"), isCommand || code.contains("\"") else { continue }
                let texts = isCommand ? [code] : code.matches(of: #/"((?:[^"\\]|\\.)* (?:[^"\\]|\\.)*)"/#).map(\.1)
                for text in texts { Self.expectNone(in: String(text), "Sources/\(file):\(index + 1)") }
            }
        }
    }

    private static let anyRetired = whole(retired.map(\.pattern).joined(separator: "|"))

    private static func whole(_ pattern: String) -> String { "(?<![-\\w])(\(pattern))\\b" }

    private static func expectNone(in text: String, _ place: String) {
        guard text.range(of: anyRetired, options: [.regularExpression, .caseInsensitive]) != nil else { return }
        for word in retired {
            let found = text.range(of: whole(word.pattern), options: [.regularExpression, .caseInsensitive])
            #expect(found == nil, "\(place): '\(word.pattern)' is retired; write: \(word.instead)")
        }
    }
}
