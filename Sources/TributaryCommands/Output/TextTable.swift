import FeedModel

/// Aligned columns with a heading, for people.
struct TextTable {
    enum Alignment {
        case left, right
    }

    private let headings: [(title: String, alignment: Alignment)]
    private var rows: [[Cell]] = []

    struct Cell: ExpressibleByStringInterpolation {
        /// Escaped, as its width is that of what is shown.
        fileprivate let text: String
        fileprivate let color: Terminal.Color?

        init(_ text: String, _ color: Terminal.Color? = nil) {
            self.text = text.escapedForTerminal()
            self.color = color
        }

        init(stringLiteral value: String) { self.init(value) }
    }

    init(_ headings: [(title: String, alignment: Alignment)]) { self.headings = headings }

    mutating func add(_ cells: [Cell]) { rows.append(cells) }

    func lines(on terminal: Terminal) -> [TerminalLine] {
        let titles = headings.map { Cell($0.title) }
        let widths = headings.indices.map { column in ([titles] + rows).map { $0[column].text.displayWidth }.max() ?? 0
        }
        return ([titles] + rows).map { row in
            row.indices.reduce("") { (line: TerminalLine, column) in
                let cell = row[column]
                let padding = String(repeating: " ", count: widths[column] - cell.text.displayWidth)
                let text = cell.color.map { terminal.colored(cell.text, $0) } ?? TerminalLine(cell.text)
                let space = column == 0 ? "" : "  "
                return headings[column].alignment == .left
                    ? "\(line)\(space)\(text)\(padding)" : "\(line)\(space)\(padding)\(text)"
            }.trimmed
        }
    }
}
