import Foundation

/// A Markdown file of this project, as far as tests look into it.
struct MarkdownFile {
    struct Heading {
        var level: Int
        var text: String
        var line: Int
    }

    struct CodeBlock {
        var language: String
        var text: String
        var line: Int
    }

    struct Link {
        var target: String
        var line: Int
    }

    /// The root of the repository.
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../..").standardizedFileURL

    /// The file's path from the root.
    let path: String
    let lines: [String]

    var name: String { String(path.split(separator: "/").last ?? "") }

    private(set) var headings: [Heading] = []
    private(set) var blocks: [CodeBlock] = []
    private(set) var links: [Link] = []

    init(_ path: String) throws {
        self.path = path
        let text = try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        var open: CodeBlock?
        for (index, line) in lines.enumerated() {
            if var block = open {
                if line.trimmingCharacters(in: .whitespaces) == "```" {
                    blocks.append(block)
                    open = nil
                } else {
                    block.text += line + "\n"
                    open = block
                }
            } else if line.trimmingCharacters(in: .whitespaces).hasPrefix("```") {
                let language = line.trimmingCharacters(in: .whitespaces).dropFirst(3)
                open = CodeBlock(language: String(language), text: "", line: index + 1)
            } else if !line.hasPrefix("    ") {
                read(line, index + 1)
            }
        }
    }

    private mutating func read(_ line: String, _ number: Int) {
        let level = line.prefix { $0 == "#" }.count
        if level > 0, line.dropFirst(level).hasPrefix(" ") {
            headings.append(Heading(level: level, text: String(line.dropFirst(level + 1)), line: number))
        }
        // What stands in code is no link.
        let plain = line.replacing(/`[^`]*`/, with: "")
        for match in plain.matches(of: /\]\(([^)\s]+)\)/) {
            links.append(Link(target: String(match.1), line: number))
        }
    }

    /// Returns the lines from behind a heading to the next of its level or above.
    func section(of heading: Heading) -> [String] {
        let next = headings.first { $0.line > heading.line && $0.level <= heading.level }
        return Array(lines[heading.line..<(next.map { $0.line - 1 } ?? lines.count)])
    }

    /// The names by which links reach the headings, as GitHub makes them: small letters, digits, `_` and `-`, a number
    /// behind those that are there already.
    var anchors: Set<String> {
        var anchors: Set<String> = []
        for heading in headings {
            let text = heading.text.replacing(/\[([^\]]*)\]\([^)]*\)/) { String($0.1) }
            let slug = String(
                text.lowercased().compactMap { character -> Character? in
                    if character == " " { return "-" }
                    return character.isLetter || character.isNumber || "-_".contains(character) ? character : nil
                })
            var name = slug
            var number = 0
            while !anchors.insert(name).inserted {
                number += 1
                name = "\(slug)-\(number)"
            }
        }
        return anchors
    }

    /// All Markdown files that people read: those at the root and in `Documentation`.
    static func all() throws -> [MarkdownFile] {
        let folder = FileManager.default
        let top = try folder.contentsOfDirectory(atPath: root.path).filter { $0.hasSuffix(".md") }
        let below = try folder.subpathsOfDirectory(atPath: root.appendingPathComponent("Documentation").path)
            .filter { $0.hasSuffix(".md") }.map { "Documentation/" + $0 }
        return try (top + below).sorted().map(MarkdownFile.init)
    }
}

extension String {
    /// The texts between backticks.
    var codeWords: [String] { matches(of: /`([^`]+)`/).map { String($0.1) } }

    /// The cells of a table's row; empty where the line is none.
    var cells: [String] {
        guard hasPrefix("|"), hasSuffix("|"), count > 2 else { return [] }
        return dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
