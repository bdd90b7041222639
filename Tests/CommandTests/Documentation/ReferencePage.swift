import Foundation

/// A page of the reference: a table of `sources.toml`, and its keys.
struct ReferencePage {
    struct Key {
        /// The key's name; that of a table within the page's has its table before it: `basic.user`.
        var name: String
        var type = ""
        /// The default, as the page has it.
        var fallback = ""
        /// The first paragraph, with its links as plain text.
        var meaning = ""
        /// Further tables that may have the key, as their pages are headed.
        var alsoIn: [String] = []
        var examples: [String] = []
        var mistakes: [Mistake] = []
        /// What of the key's section is not in the form that all have.
        var faults: [String] = []

        /// The table within the page's that has the key; empty where it is the page's.
        var table: String { name.split(separator: ".").dropLast().joined(separator: ".") }
        var shortName: String { String(name.split(separator: ".").last ?? "") }
    }

    struct Mistake {
        var text: String
        /// The error that it gives, with the key's path.
        var message: String
    }

    let file: MarkdownFile
    /// The header of the table: `[[sources.NAME.requests]]`.
    let header: String
    let keys: [Key]
    /// Mistakes that stand beside no key.
    let mistakes: [Mistake]

    /// Reads the pages that describe a table, in alphabetical order.
    static func all() throws -> [ReferencePage] {
        try MarkdownFile.all().filter { $0.path.hasPrefix("Documentation/Reference/") }.compactMap(ReferencePage.init)
    }

    /// - Returns: nil where the page is about no table.
    init?(_ file: MarkdownFile) {
        guard let title = file.headings.first, let header = title.text.wholeMatch(of: /`(\[+.*\]+)`/)?.1 else {
            return nil
        }
        self.file = file
        self.header = String(header)
        keys = file.headings.filter { $0.level == 2 }.compactMap { heading in
            heading.text.wholeMatch(of: /`([^`]+)`/).map { Self.key(String($0.1), file, heading) }
        }
        let first = file.headings.dropFirst().first.map { $0.line - 1 } ?? file.lines.count
        mistakes = Self.mistakes(in: Array(file.lines[..<first]))
    }

    /// The name of the header without brackets.
    var name: String { header.filter { !"[]".contains($0) } }

    private static func key(_ name: String, _ file: MarkdownFile, _ heading: MarkdownFile.Heading) -> Key {
        var key = Key(name: name)
        let section = file.section(of: heading)
        let first = section.first { !$0.isEmpty } ?? ""
        if let form = first.wholeMatch(of: /Type: (.+?)\. Default: (.+?)\.(?: Also in: (.+)\.)?/) {
            key.type = String(form.1)
            key.fallback = String(form.2)
            key.alsoIn = form.3.map { String($0).codeWords } ?? []
        } else {
            key.faults.append("its first line is not 'Type: …. Default: ….': \(first)")
        }
        let words = section.drop { !$0.hasPrefix("Type: ") }.dropFirst().drop { $0.isEmpty }.prefix { !$0.isEmpty }
        key.meaning = words.joined(separator: " ").replacing(/\[([^\]]*)\]\([^)]*\)/) { $0.1 }
        let lines = heading.line..<(heading.line + section.count)
        key.examples = file.blocks.filter { $0.language == "toml" && lines.contains($0.line) }.map(\.text)
        key.mistakes = mistakes(in: section)
        if key.examples.isEmpty { key.faults.append("it has no example") }
        if key.mistakes.isEmpty { key.faults.append("it has no wrong value with its error") }
        return key
    }

    private static func mistakes(in lines: [String]) -> [Mistake] {
        lines.indices.compactMap { index in
            guard let text = lines[index].wholeMatch(of: /Wrong: `(.*)`/)?.1, index + 2 < lines.count else {
                return nil
            }
            return Mistake(text: String(text), message: lines[index + 2].trimmingCharacters(in: .whitespaces))
        }
    }
}
