import FeedModel

/// Aligned columns with a heading, for people.
struct TextTable {
    enum Alignment {
        case left, right
    }

    private let headings: [(title: String, alignment: Alignment)]
    /// The column whose texts are cut where the table is wider than the terminal.
    private let flexible: Int?
    /// The columns that are left out, one after the other, where the table is still wider.
    private let dispensable: [Int]
    private var rows: [[Cell]] = []
    /// What stands below each row.
    private var details: [[TerminalLine]] = []

    struct Cell: ExpressibleByStringInterpolation {
        /// Escaped, as its width is that of what is shown.
        fileprivate var text: String
        fileprivate let color: Terminal.Color?

        init(_ text: String, _ color: Terminal.Color? = nil) {
            self.text = text.escapedForTerminal()
            self.color = color
        }

        init(stringLiteral value: String) { self.init(value) }

        /// Returns the cell in at most so many columns.
        fileprivate func cut(to columns: Int) -> Cell {
            guard text.displayWidth > columns else { return self }
            var cell = self
            cell.text = text.prefix(columns: columns - 1) + "…"
            return cell
        }
    }

    init(_ headings: [(title: String, alignment: Alignment)], flexible: Int? = nil, dispensable: [Int] = []) {
        self.headings = headings
        self.flexible = flexible
        self.dispensable = dispensable
    }

    mutating func add(_ cells: [Cell], below details: [TerminalLine] = []) {
        rows.append(cells)
        self.details.append(details)
    }

    /// Returns the heading, and each row with what stands below it.
    func lines(on terminal: Terminal) -> [TerminalLine] {
        let (heading, rows) = parts(on: terminal)
        return [heading] + rows.flatMap { [$0.line] + $0.details }
    }

    func parts(
        on terminal: Terminal
    ) -> (heading: TerminalLine, rows: [(line: TerminalLine, details: [TerminalLine])]) {
        var cells = [headings.map { Cell($0.title) }] + rows
        var columns = Array(headings.indices)
        func widths() -> [Int] { columns.map { column in cells.map { $0[column].text.displayWidth }.max() ?? 0 } }
        func excess() -> Int { widths().reduce(0) { $0 + $1 + 2 } - 2 - (terminal.size?.columns ?? .max) }
        for step in 0...dispensable.count where excess() > 0 {
            // First what can be cut, down to the shortest that says anything; then what can be left out.
            if step > 0 { columns.removeAll { $0 == dispensable[step - 1] } }
            guard excess() > 0, let flexible, let place = columns.firstIndex(of: flexible) else { continue }
            let width = max(widths()[place] - excess(), 8)
            for row in cells.indices { cells[row][flexible] = cells[row][flexible].cut(to: width) }
        }
        let found = widths()
        let lines = cells.map { row in
            zip(columns, found).reduce("") { (line: TerminalLine, column) in
                let cell = row[column.0]
                let padding = String(repeating: " ", count: column.1 - cell.text.displayWidth)
                let text = cell.color.map { terminal.colored(cell.text, $0) } ?? TerminalLine(cell.text)
                let space = column.0 == columns.first ? "" : "  "
                return headings[column.0].alignment == .left
                    ? "\(line)\(space)\(text)\(padding)" : "\(line)\(space)\(padding)\(text)"
            }.trimmed
        }
        return (lines[0], zip(lines.dropFirst(), details).map { ($0, $1) })
    }
}

/// The columns that a text takes on a terminal (UAX #11): two for a wide character, none for a mark that is combined with
/// the character before it.
extension String {
    var displayWidth: Int { reduce(0) { $0 + $1.displayWidth } }

    /// Returns the text with spaces after it, in at least so many columns.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - displayWidth)) }

    /// Returns the text in exactly so many columns: with spaces after it, or without its middle, as names often differ at
    /// both ends.
    func fitted(to columns: Int) -> String {
        guard displayWidth > columns else { return padded(to: columns) }
        let end = String(reversed()).prefix(columns: (columns - 1) / 2)
        return (prefix(columns: columns - 1 - end.displayWidth) + "…" + String(end.reversed())).padded(to: columns)
    }

    /// Returns the beginning of the text that takes at most so many columns.
    func prefix(columns: Int) -> String {
        var left = columns
        return String(
            prefix { character in
                left -= character.displayWidth
                return left >= 0
            })
    }
}

extension Character {
    fileprivate var displayWidth: Int {
        guard let first = unicodeScalars.first else { return 0 }
        if first.isASCII { return 1 }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        let isEmoji =
            first.properties.isEmojiPresentation || unicodeScalars.contains { $0.value == 0xFE0F }
        return isEmoji || Self.wide.contains { $0.contains(first.value) } ? 2 : 1
    }

    /// The blocks whose characters are wide or full-width.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3,
        0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x1F200...0x1F2FF, 0x20000...0x3FFFD,
    ]
}
