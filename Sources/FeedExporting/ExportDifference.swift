import FeedConfiguration
import GRDB
import XMLStream

/// The description of a row that would not come back unchanged from an exported document: the column, the reason, and
/// what to do.
struct ExportDifference {
    struct Value {
        var column: ColumnMapping
        var stored: DatabaseValue
        /// The value that is compared: `stored`, or the number of the row that it refers to.
        var compared: DatabaseValue
    }

    let table: String
    let key: [String]
    let mappings: [TableMapping]

    /// Describes a row that comes back with other values, or not at all.
    ///
    /// - Parameters:
    ///   - candidates: rows that come back and did not exist before.
    ///   - isSameRow: true if the first of them has the row's key.
    func changed(_ row: [Value], into candidates: [[Value]], isSameRow: Bool) -> String {
        func differences(_ other: [Value]) -> [Int] { row.indices.filter { row[$0].compared != other[$0].compared } }
        let whole = candidates.filter { $0.count == row.count }
        guard let nearest = whole.min(by: { differences($0).count < differences($1).count }),
            let index = differences(nearest).first, isSameRow || differences(nearest).count * 2 <= row.count
        else {
            return "\(place(row)): the row would not come back from the exported document; "
                + "something in the mapping takes its element for another, or not at all. " + Self.remedy
        }
        let column = row[index].column
        return
            "\(place(row)): column '\(column.name)' holds \(text(row[index].stored)), and \(text(nearest[index].stored)) "
            + "would come back from the exported document\(reason(column, row[index].stored)). " + Self.remedy
    }

    /// Describes a row that no element can be written for, because the row that it belongs to does not exist.
    func orphan(_ row: [Value], _ value: Value, of parent: String) -> String {
        let why =
            value.stored.isNull
            ? "column '\(value.column.name)' is empty, which names the row of table '\(parent)' that it belongs to"
            : "table '\(parent)' has no row \(text(value.stored)), to which it belongs by column '\(value.column.name)'"
        return "\(place(row)): there is no element to write it into: \(why). Give it its parent, or delete it"
    }

    /// Describes a row that comes back but was not exported.
    func more(_ row: [Value]) -> String {
        "\(place(row)): the exported document would bring this row, which the store does not have: an element of another "
            + "row or table is taken for it. " + Self.remedy
    }

    private static let remedy =
        "Change the mapping, fix the row, or set export = false on what need not come back; --unchecked writes the "
        + "document all the same"

    /// Returns the table and the row, by its key or its first values.
    private func place(_ row: [Value]) -> String {
        let names = Set(key.map { $0.lowercased() })
        let keyed = row.filter { names.contains($0.column.name.lowercased()) }
        let shown = (keyed.isEmpty ? Array(row.prefix(3)) : keyed).map { "\($0.column.name) = \(text($0.stored))" }
        return "table '\(table)', row (\(shown.joined(separator: ", ")))"
    }

    private func text(_ value: DatabaseValue) -> String {
        switch value.storage {
        case .null: "nothing"
        case .int64(let number): String(number)
        case .double(let number): String(number)
        case .string(let text): (text.count > 60 ? text.prefix(60) + "…" : text).debugDescription
        case .blob(let data): "\(data.count) bytes"
        }
    }

    /// Returns the most likely cause, where one can be found.
    private func reason(_ column: ColumnMapping, _ value: DatabaseValue) -> String {
        if column.isOrdinal { return ": positions are counted again, from 1" }
        guard let path = column.path else { return "" }
        if path.steps.contains(where: { $0.position != nil }) {
            return ": an export does not keep the positions that a path such as td[2] asks for"
        }
        let rivals = mappings.filter { $0.table.lowercased() == table.lowercased() }.flatMap(\.columns).filter {
            other in
            guard other.name != column.name, let theirs = other.path else { return false }
            return Self.overlap(path, column.type, theirs) || Self.overlap(theirs, other.type, path)
        }.map { "'\($0.name)'" }
        if !rivals.isEmpty { return ": \(rivals.joined(separator: ", ")) takes the same part of the document" }
        if let format = column.format { return ": the format \(format.debugDescription) does not hold all of it" }
        if value.isNull, column.fallback != nil { return ": what is missing becomes the column's default" }
        if case .string(let text) = value.storage, case .text = path.target,
            text.first?.isWhitespace ?? text.last?.isWhitespace ?? false
        {
            return ": an element's text is read without the white space at its ends"
        }
        return ""
    }

    /// True if a column at one path also takes the value at another's path.
    private static func overlap(_ path: XMLPath, _ type: ValueType?, _ other: XMLPath) -> Bool {
        guard path.ups == other.ups, path.isAbsolute == other.isAbsolute else { return false }
        if path.target == .deepText || type == .xml { return other.steps.starts(with: path.steps) }
        return path.target == other.target && path.steps.count == other.steps.count
            && zip(path.steps, other.steps).allSatisfy { $0.test == $1.test || $0.test == .any || $1.test == .any }
    }
}
