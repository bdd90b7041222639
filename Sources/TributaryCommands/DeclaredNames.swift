import ArgumentParser
import FeedConfiguration
import Foundation

/// The names that `sources.toml` and the files that it includes declare, for the completion of arguments. They are read
/// from the headings of their tables: a file with mistakes completes as well, and one of 5,000 sources at once.
enum DeclaredNames {
    static let sources = CompletionKind.custom { words, _, _ in names(in: "sources", words) }
    static let hooks = CompletionKind.custom { words, _, _ in names(in: "hooks", words) }

    /// - Parameter words: the words of the command line so far.
    private static func names(in table: String, _ words: [String]) -> [String] {
        let option = words.lastIndex { $0 == "-c" || $0 == "--config" }
        let named = option.flatMap { $0 + 1 < words.count ? words[$0 + 1] : nil }
        let files = DeclaredTables.files(from: GlobalOptions.file(named))
        let texts = files.compactMap { try? String(contentsOfFile: $0, encoding: .utf8) }
        return Set(texts.flatMap { names(in: table, $0) }).sorted()
    }

    /// Returns the names of the tables `[TABLE.NAME]` and `[[TABLE.NAME.…]]` of a text, sorted.
    static func names(in table: String, _ text: String) -> [String] {
        let heading = #/^\s*\[\[?\s*([A-Za-z]+)\s*\.\s*(?:"([^"]+)"|'([^']+)'|([A-Za-z0-9_-]+))/#
            .anchorsMatchLineEndings()
        let found = text.matches(of: heading).compactMap { match in
            match.1 == table ? (match.2 ?? match.3 ?? match.4).map(String.init) : nil
        }
        return Set(found).sorted()
    }
}
