import FeedConfiguration
import Foundation
import Testing

/// One word for each thing: words that the documentation, the descriptions of keys and the commands no longer use.
///
/// `Documentation/HowTo/glossary.md` has the words that they do use.
@Suite struct WordsTests {
    /// A word or phrase, as a pattern of whole words in any case, and what to write in its place.
    private struct Retired {
        var pattern: String
        var instead: String
    }

    private static let retired = [
        Retired(pattern: "held back", instead: "blocked"),
        Retired(pattern: "journal(s|led|ed)?", instead: "changelog"),
        Retired(pattern: "twins?", instead: "duplicates"),
        Retired(pattern: "fuse", instead: "change limit"),
        Retired(pattern: "(is|are|be) told", instead: "receives, is notified, reported"),
        Retired(pattern: "told (by|of)", instead: "receives, delivered, reported"),
        Retired(pattern: "there is none", instead: "absent, without, does not exist"),
        Retired(pattern: "(is|declared|asked) no more", instead: "no longer"),
        Retired(pattern: "declared differently", instead: "with a changed declaration"),
        Retired(pattern: "lets it go", instead: "ends the hold"),
        Retired(pattern: "(that|which) (are|is) there", instead: "existing"),
        Retired(pattern: "whoever", instead: "the one who does it"),
        Retired(pattern: "somebody else", instead: "another program, another user"),
        Retired(pattern: "all over again", instead: "again"),
        Retired(pattern: "anew", instead: "again, in full"),
        Retired(pattern: "from what to what", instead: "old and new values"),
        Retired(pattern: "how each source stands", instead: "the state of each source"),
    ]

    @Test func pagesDoNotHaveThem() throws {
        for page in try MarkdownFile.all()
        where page.path.hasPrefix("Documentation/") || ["README.md", "CONTRIBUTING.md"].contains(page.path) {
            for (index, line) in page.lines.enumerated() {
                Self.expectNone(of: Self.retired, in: line, "\(page.path):\(index + 1)")
            }
        }
    }

    @Test func descriptionsOfKeysDoNotHaveThem() throws {
        for table in KeyTable.all {
            Self.expectNone(of: Self.retired, in: table.meaning, table.path)
            for entry in table.entries {
                Self.expectNone(
                    of: Self.retired, in: entry.meaning, "\(table.path).\(entry.name)")
            }
        }
    }

    /// Looks at the lines of the commands' sources, which have their help and their messages, but not at comments.
    @Test func commandsDoNotHaveThem() throws {
        let folder = "Sources/TributaryCommands"
        let path = MarkdownFile.root.appendingPathComponent(folder).path
        let files = try FileManager.default.subpathsOfDirectory(atPath: path).filter { $0.hasSuffix(".swift") }
        #expect(files.count > 30)
        for file in files {
            let text = try String(contentsOfFile: "\(path)/\(file)", encoding: .utf8)
            for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
            where !line.trimmingCharacters(in: .whitespaces).hasPrefix("//") {
                Self.expectNone(of: Self.retired, in: String(line), "\(folder)/\(file):\(index + 1)")
            }
        }
    }

    private static func expectNone(of words: [Retired], in text: String, _ place: String) {
        for word in words {
            let pattern = "(?<![-\\w])(\(word.pattern))\\b"
            let found = text.range(of: pattern, options: [.regularExpression, .caseInsensitive])
            #expect(found == nil, "\(place): '\(word.pattern)' is retired; write: \(word.instead)")
        }
    }
}
