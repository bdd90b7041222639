import FeedConfiguration
import FeedModel
import XMLStream

/// The names of the columns of a body in CSV, or of a sheet of a workbook.
enum CSVColumns {
    /// The most columns.
    static let limit = 5_000
    /// The most bytes of a column's name.
    static let nameLimit = 1_000

    /// Returns a name for each field of a header. A field without a text is named by its position, `c3` for the third.
    /// A name that comes again gets a number: `name`, `name_2`.
    static func names(_ header: [String]) -> [String] {
        var taken: Set<String> = []
        var counts: [String: Int] = [:]
        return header.enumerated().map { index, text in
            let wish = trimmed(text)
            let base = wish.isEmpty ? "c\(index + 1)" : wish
            var name = base
            while !taken.insert(name).inserted {
                counts[base, default: 1] += 1
                name = "\(base)_\(counts[base] ?? 2)"
            }
            return name
        }
    }

    private static func trimmed(_ text: String) -> String {
        var text = text
        return text.withUTF8 { String(decoding: XMLStream.trimmed($0), as: UTF8.self) }
    }
}

extension MappingHandler {
    /// Checks that the columns in the mapping's paths exist. Columns with a `default`, and those that may be NULL by
    /// `on_error`, may be missing.
    ///
    /// - Throws: ``MappingError`` naming each missing column, and the nearest existing one.
    func check(columns: [String]) throws {
        hasHeader = true
        let names = columns.map { XMLName(qualified: $0, local: $0, namespace: nil, written: $0) }
        let row = [RowElements.rootName, RowElements.rowName].map { XMLName(qualified: $0, local: $0, namespace: nil) }
        var missing: [String] = []
        var isUnknown = false
        for layout in layouts where PathTreeBuilder.match(layout.mapping.element, row[...]) != nil {
            for slot in layout.slots {
                guard case .path(let path) = slot.source, !path.isAbsolute, path.ups == 0, path.steps.count == 1,
                    slot.column.fallback == nil, slot.column.onError != .null,
                    !names.contains(where: path.steps[0].test.matches)
                else { continue }
                let name = path.steps[0].test.writtenName
                let nearest = nearestName(to: name, among: columns)
                isUnknown = isUnknown || nearest == nil
                missing.append(
                    "column '\(slot.column.name)' of table '\(layout.mapping.table)': the header has no '\(name)'"
                        + (nearest.map { "; did you mean '\($0)'?" } ?? ""))
            }
        }
        guard !missing.isEmpty else { return }
        throw MappingError(missing.joined(separator: "; ") + (isUnknown ? hint(columns) : ""))
    }

    /// Returns what the header has, as the end of a message.
    private func hint(_ columns: [String]) -> String {
        let delimiters: [Character] = [";", "\t", "|", ","]
        if columns.count == 1, let other = delimiters.first(where: columns[0].contains) {
            let written = other == "\t" ? "\\t" : String(other)
            return "; it has one column, '\(columns[0].shortened(to: 100))': set csv = { delimiter = \"\(written)\" }"
        }
        guard columns.count <= 40 else { return "" }
        return "; it has " + columns.map { $0.shortened(to: 40) }.joined(separator: ", ").shortened(to: 400)
    }
}

extension XMLPath.NameTest {
    /// The name as the path has it.
    fileprivate var writtenName: String { if case .quoted(let written, _) = self { written } else { description } }
}
