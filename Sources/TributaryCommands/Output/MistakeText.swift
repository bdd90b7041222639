import FeedConfiguration
import FeedModel
import TributaryEngine

/// A mistake in a configuration as compilers print theirs: place, message, the line with a mark below what is wrong, and
/// what to do.
struct MistakeText {
    let problem: ConfigurationError.Problem
    /// The columns of the terminal.
    let columns: Int

    func lines(on terminal: Terminal) -> [TerminalLine] {
        let gutter = problem.line.map { String($0).count + 1 } ?? 1
        let blank = TerminalLine(String(repeating: " ", count: gutter))
        var place = problem.file
        if let line = problem.line { place += ":\(line)" }
        if let column = problem.excerpt?.columns.lowerBound { place += ":\(column)" }
        let path = problem.keyPath.isEmpty ? "" : problem.keyPath + ": "
        let lead: TerminalLine = (place.isEmpty ? "" : "\(place): ") + terminal.colored("error:", .red) + " "
        var lines = terminal.wrapped("\(path)\(problem.finding)", after: lead, indent: 4)
        if let excerpt = problem.excerpt, let line = problem.line {
            let (text, mark) = marked(excerpt, columns: columns - gutter - 4)
            lines.append(" \(line) | \(text)")
            lines.append(blank + " | " + terminal.colored(mark, .red))
        }
        if let help = problem.help {
            let lead = blank + " = " + terminal.colored("help:", .green) + " "
            lines += terminal.wrapped(help, after: lead, indent: gutter + 9)
        }
        return lines
    }

    /// What one character of the line takes on the terminal.
    private struct Piece {
        var text: String
        var width: Int
        var isMarked: Bool
    }

    /// Returns the line, cut to some columns around what is wrong, and the mark to be written below it.
    private func marked(_ excerpt: SourceExcerpt, columns: Int) -> (text: String, mark: String) {
        var pieces = pieces(excerpt)
        // Behind the last character, as for a missing one.
        if !pieces.contains(where: \.isMarked) { pieces.append(Piece(text: "", width: 1, isMarked: true)) }
        func width(_ pieces: some Sequence<Piece>) -> Int { pieces.reduce(0) { $0 + $1.width } }
        let columns = max(columns, 20)
        let start = pieces.firstIndex(where: \.isMarked) ?? 0
        let isCutBefore = excerpt.firstColumn > 1
        var first = 0
        if width(pieces) > columns {
            // What is wrong begins in the middle, or further left where all of what is before it fits.
            while first < start, width(pieces[first..<start]) > columns / 2 { first += 1 }
        }
        let dots = first > 0 || isCutBefore ? "…" : ""
        var left = columns - dots.count
        let last = pieces[first...].firstIndex { piece in
            left -= piece.width
            return left < 1
        }
        let shown = pieces[first..<(last ?? pieces.endIndex)]
        let before = dots.count + width(shown.prefix { !$0.isMarked })
        let mark = max(1, width(shown.filter(\.isMarked)))
        return (
            dots + shown.map(\.text).joined() + (last == nil ? "" : "…"),
            String(repeating: " ", count: before) + String(repeating: "^", count: mark)
        )
    }

    /// The characters as they are shown: a tab as four blanks, a control character by its number.
    private func pieces(_ excerpt: SourceExcerpt) -> [Piece] {
        var scalar = 0
        return excerpt.text.map { character in
            let range = scalar..<(scalar + character.unicodeScalars.count)
            scalar = range.upperBound
            let text = character == "\t" ? "    " : String(character).escapedForTerminal()
            return Piece(text: text, width: text.displayWidth, isMarked: range.overlaps(excerpt.marked))
        }
    }
}

extension JSONObject {
    /// A mistake of a configuration.
    init(_ problem: ConfigurationError.Problem) {
        self = [
            "file": problem.file, "line": problem.line, "column": problem.excerpt?.columns.lowerBound,
            "end_column": problem.excerpt?.columns.upperBound,
            "key": problem.keyPath.isEmpty ? nil : problem.keyPath, "message": problem.finding, "help": problem.help,
        ]
    }
}
