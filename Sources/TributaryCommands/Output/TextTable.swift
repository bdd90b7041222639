/// Aligned columns with a heading, for people.
struct TextTable {
    enum Alignment {
        case left, right
    }

    private let headings: [(title: String, alignment: Alignment)]
    private var rows: [[Cell]] = []

    struct Cell: ExpressibleByStringInterpolation {
        var text: String
        var color: Terminal.Color?

        init(_ text: String, _ color: Terminal.Color? = nil) {
            self.text = text
            self.color = color
        }

        init(stringLiteral value: String) { self.init(value) }
    }

    init(_ headings: [(title: String, alignment: Alignment)]) { self.headings = headings }

    mutating func add(_ cells: [Cell]) { rows.append(cells) }

    func lines(on terminal: Terminal) -> [String] {
        let titles = headings.map { Cell($0.title) }
        let widths = headings.indices.map { column in ([titles] + rows).map { $0[column].text.count }.max() ?? 0 }
        return ([titles] + rows).map { row in
            let cells = row.indices.map { column in
                let cell = row[column]
                let padding = String(repeating: " ", count: widths[column] - cell.text.count)
                let text = cell.color.map { terminal.colored(cell.text, $0) } ?? cell.text
                return headings[column].alignment == .left ? text + padding : padding + text
            }
            let line = cells.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }
}
