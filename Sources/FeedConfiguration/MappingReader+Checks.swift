import FeedModel
import Foundation
import XMLStream

/// Checks of a mapping's parts against each other.
extension MappingReader {
    func checkOptions(_ column: ColumnMapping, _ reader: DeclarationReader) {
        if let format = column.format {
            switch column.type {
            case .date, .datetime:
                if (try? DateFormat(writing: format))?.lacksDayPeriod ?? false {
                    reader.report(
                        "format",
                        "'\(format)' has the hour from 1 to 12 without AM or PM",
                        help: "write %H or HH for the hour from 0 to 23, "
                            + "or add %p or a")
                } else if DateFormat(format) == nil {
                    reader.report(
                        "format",
                        "'\(format)' is not a date's format", help: "write \"%d.%m.%Y %H:%M\" or \"dd.MM.yyyy HH:mm\"")
                }
            case .blob:
                if !["hex", "base64"].contains(format) {
                    reader.report("format", "expected one of hex, base64, found '\(format)'")
                }
            default: break
            }
        }
        checkDerivation(column, reader)
        if column.type == .xml, case .path(let path, _) = column.origin, case .attribute = path.target {
            reader.report("type", "an attribute has no markup; 'xml' takes the path of an element")
        }
        if let fallback = column.fallback,
            !parsers.converts(fallback.text, in: column, isConstant: true),
            !fallback.isText || !parsers.converts(fallback.text, in: column, isConstant: false)
        {
            reader.report("default", "'\(fallback.text)' is not \(parsers.expectation(of: column))")
        }
        if case .constant(let constant) = column.origin, column.type != nil,
            !parsers.converts(constant.text, in: column, isConstant: false)
        {
            reader.report("value", "'\(constant.text)' is not \(parsers.expectation(of: column))")
        }
        if let type = column.type {
            var plain = ColumnMapping(name: column.name, origin: .name)
            plain.type = type
            let expected = parsers.expectation(of: plain)
            plain.format = column.format
            for value in column.values where !parsers.converts(value.value.text, in: plain, isConstant: false) {
                reader.report("values", "'\(value.value.text)', for '\(value.text)', is not \(expected)")
            }
        }
        if column.isEncrypted, reader.encryptionKey == nil {
            reader.report("encrypted", "needs 'encryption_key' in [store]: 32 bytes in hex")
        }
    }

    // MARK: - Consistency

    static func reportUnknown(
        column name: String, of table: TableMapping, at place: TOMLKeyPath, _ problems: ProblemCollector
    ) {
        problems.report(
            place, "'\(name)' is not a column", help: didYouMean(name, among: table.columns.lazy.map(\.name)))
    }

    /// - Parameter tables: the request's tables, by their names in lower case.
    func check(_ table: TableMapping, among tables: [String: [TableMapping]], _ reader: DeclarationReader) {
        let names = Set(table.columns.map { $0.name.lowercased() })
        for key in ["key", "order"] where !table.matchesNames {
            for name in key == "key" ? table.key : table.order where !names.contains(name.lowercased()) {
                if key == "key", scope.contains(name.lowercased()) { continue }
                // A column with a mistake of its own is no other mistake.
                if reader.keys(of: "columns").contains(where: { $0.lowercased() == name.lowercased() }) { continue }
                Self.reportUnknown(column: name, of: table, at: reader.path.appending(key), reader.problems)
            }
        }
        checkStored(table, reader)
        checkExpressions(of: table, reader)
        if let window = table.window {
            if let column = table.column(window) {
                if column.isEncrypted { reader.report("window", "'\(window)' is encrypted, and has no order") }
                if column.type == .decimal {
                    reader.report(
                        "window",
                        "'\(window)' is a decimal, and long decimals are texts, without an order among numbers",
                        help: "use an integer, a real or a date")
                }
            } else if !table.matchesNames {
                Self.reportUnknown(column: window, of: table, at: reader.path.appending("window"), reader.problems)
            }
        }
        if let within = table.within, table.parentOfMirror == nil {
            reader.report(
                "within", "'\(within)' is not a column with a 'parent'; a mirror is limited to the children of parents")
        }
        var children: [String: String] = [:]
        for column in table.columns {
            guard case .parent(let parent) = column.origin else { continue }
            let columns = reader.path.appending("columns", column.name)
            if let other = children.updateValue(column.name, forKey: parent.lowercased()) {
                reader.problems.report(
                    columns,
                    "the column '\(other)' names the parent '\(parent)', too, and both would hold the same value",
                    help:
                        "declare one column with 'parent', and read other values of the parent by a path such as ../@id"
                )
            }
            guard let enclosing = tables[parent.lowercased()]?.first else {
                reader.problems.report(
                    columns, "the request maps no table '\(parent)'",
                    help: didYouMean(parent, among: tables.values.lazy.flatMap { $0 }.map(\.table)))
                continue
            }
            if table.element.isAbsolute, enclosing.element.isAbsolute,
                !(enclosing.element.steps.count < table.element.steps.count
                    && zip(enclosing.element.steps, table.element.steps).allSatisfy { $0.test == $1.test })
            {
                reader.problems.report(
                    columns,
                    "<\(table.writtenElement)> is not inside <\(enclosing.writtenElement)>, the element of '\(parent)'")
            }
        }
        let hasParent = table.columns.contains { if case .parent = $0.origin { true } else { false } }
        for column in table.columns where column.origin == .ordinal(.parent) && !hasParent {
            reader.problems.report(
                reader.path.appending("columns", column.name).appending("ordinal"),
                "requires a column with 'parent', the record to count in")
        }
        for column in table.columns where column.type == .decimal && scope.contains(column.name.lowercased()) {
            reader.problems.report(
                reader.path.appending("columns", column.name),
                "'scope' uses this column, so it cannot be a decimal", help: "make it text or an integer")
        }
        let twin = tables[table.table.lowercased()]?.first { $0.table == table.table && $0.place != table.place }
        if let twin, twin.key != table.key {
            reader.report("key", "the table '\(table.table)' is mapped twice, with different keys")
        }
    }
}
