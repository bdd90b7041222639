import Foundation

/// A block of commands in a document of ours, and what the document says that they print.
///
/// Blocks are fenced as `sh`; a block that is fenced as `text` right behind one is what it prints. A comment before the block
/// says what a reader does without being told: `<!-- until -->` looks again until it is so, and `<!-- serves PORT, says so in
/// FILE -->` starts a server in the background, whose port may be another.
struct DocumentedStep: Sendable {
    struct Server: Sendable {
        var port: String
        var log: String
    }

    /// The line of the document on which the commands begin.
    var line: Int
    /// The heading above.
    var section: String
    var commands: String
    /// Nil where the document does not say.
    var output: String?
    var isRepeated = false
    var server: Server?

    static func all(of document: String) -> [DocumentedStep] {
        var steps: [DocumentedStep] = []
        var section = ""
        var comment = ""
        var fence: (kind: String, line: Int, text: String)?
        for (index, line) in document.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if let open = fence {
                guard line == "```" else {
                    fence?.text += line + "\n"
                    continue
                }
                fence = nil
                if open.kind == "text", steps.last?.output == nil, !steps.isEmpty {
                    steps[steps.count - 1].output = open.text
                } else if open.kind == "sh" {
                    steps.append(
                        DocumentedStep(
                            line: open.line, section: section, commands: open.text, isRepeated: comment == "until",
                            server: server(of: comment)))
                }
                comment = ""
            } else if line.hasPrefix("```") {
                fence = (String(line.dropFirst(3)), index + 2, "")
            } else if line.hasPrefix("#") {
                section = line.drop { $0 == "#" || $0 == " " }.description
            } else if line.hasPrefix("<!-- ") {
                comment = String(line.dropFirst(5).dropLast(4))
            }
        }
        return steps
    }

    private static func server(of comment: String) -> Server? {
        let match = comment.wholeMatch(of: /serves (\d+), says so in (\S+)/)
        return match.map { Server(port: String($0.1), log: String($0.2)) }
    }

    // MARK: - What is printed

    /// True where this output is what the document says, but for times, durations and sizes of stores. `…` stands for anything
    /// in a line, or for any lines.
    func isAnswered(by actual: String) -> Bool {
        guard let output else { return true }
        let lines = Self.withoutTimes(output).split(separator: "\n")
        let patterns = lines.map { line in
            line == "…"
                ? "(.*\n)*?"
                : line.split(separator: "…", omittingEmptySubsequences: false)
                    .map { NSRegularExpression.escapedPattern(for: String($0)) }.joined(separator: ".*") + "\n"
        }
        let text = Self.withoutTimes(actual)
        guard let pattern = try? NSRegularExpression(pattern: patterns.joined()) else { return false }
        let range = NSRange(text.startIndex..., in: text)
        return pattern.firstMatch(in: text, options: .anchored, range: range)?.range == range
    }

    /// The text with one word for what is never the same twice, and one space for several, as columns are as wide as their values.
    private static func withoutTimes(_ text: String) -> String {
        let plain =
            text
            .replacing(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z| UTC)/, with: "TIME")
            .replacing(/\d{8}T\d{6}Z/, with: "TIME")
            .replacing(/\b(now|[\d.,]+ (ms|s|min|h)( ago)?)\b/, with: "TIME")
            .replacing(/\b[\d.]+ (kB|MB)\b/, with: "SIZE")
            .replacing(/process \d+/, with: "process ID")
            .replacing(/─+/, with: "─").replacing(/-{3,}/, with: "---")
        let lines = plain.split(separator: "\n").map { line in
            line.replacing(/[ \t]+/, with: " ").replacing(/[ ]+$/, with: "")
        }
        return lines.filter { !$0.isEmpty }.map { $0 + "\n" }.joined()
    }
}
