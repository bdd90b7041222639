import FeedStore
import Foundation
import XMLStream

/// Reads the `tables` of a request, and reports what is wrong with them.
struct MappingReader {
    private let request: TableReader
    private let namespaces: [String: String]
    private let hasEncryptionKey: Bool
    /// The columns that the request's scope names, in lower case: rows have them, mapped or not.
    private let scope: Set<String>

    /// - Parameter request: the request's table; its keys `tables`, `namespaces`, `root` and `expand` are read.
    init(_ request: TableReader, scope: Set<String>, hasEncryptionKey: Bool) {
        self.scope = scope
        self.request = request
        self.hasEncryptionKey = hasEncryptionKey
        namespaces = (request.texts("namespaces") ?? [:]).mapValues(\.value)
    }

    /// Nil where the request declares no tables.
    func read() -> RequestMapping? {
        let root = request.string("root")
        let expands = request.boolean("expand") ?? false
        guard let readers = request.tables("tables") else {
            for key in ["namespaces", "root", "expand"] where request.has(key) && !request.has("tables") {
                request.report(key, "has a meaning only beside 'tables'")
            }
            return nil
        }
        if readers.isEmpty { request.report("tables", "a mapping needs at least one table") }
        let tables = readers.compactMap(table)
        let named = Dictionary(grouping: tables) { $0.table.lowercased() }
        for (reader, table) in zip(readers, tables) where tables.count == readers.count {
            check(table, among: named, reader)
        }
        var mapping = RequestMapping(
            tables: tables,
            namespaces: namespaces.sorted { $0.key < $1.key }.map { .init(prefix: $0.key, uri: $0.value) },
            root: root)
        mapping.sentReferences = tables.flatMap(\.columns).compactMap { column in
            if case .sent(let reference) = column.origin { reference } else { nil }
        }
        mapping.expandsReferences = expands
        return mapping
    }

    // MARK: - Tables

    private func table(_ reader: TableReader) -> TableMapping? {
        let name = reader.string("table")
        if !reader.has("table") { reader.problems.report(reader.path, "the mapping has no 'table'") }
        if let name, let problem = Self.problem(ofName: name) { reader.report("table", problem) }
        let written = reader.string("element")
        if !reader.has("element") {
            reader.problems.report(
                reader.path,
                "the mapping has no 'element'; give the path of the element that is a row, such as \"item\"")
        }
        let element = written.flatMap { elementPath($0, reader) }
        let key = reader.strings("key") ?? []
        let order = reader.strings("order") ?? []
        for (name, list) in [("key", key), ("order", order)] where Set(list.map { $0.lowercased() }).count < list.count
        {
            reader.report(name, "a column is named twice")
        }
        let sync = reader.choice("sync", SyncMode.self)
        let window = reader.string("window")
        let within = reader.string("within")
        let columns = reader.table("columns").map(columns)
        if columns?.isEmpty ?? false { reader.report("columns", "a table needs at least one column") }
        reader.finish()
        guard let name, let written, let element else { return nil }
        var mapping = TableMapping(
            table: name, element: element, writtenElement: written, key: key, order: order, sync: sync, window: window,
            within: within,
            columns: columns ?? [], matchesNames: columns == nil, place: reader.path.description)
        mapping.columns = sorted(mapping)
        return mapping
    }

    /// Those that `order` names, then the others as they stand in the file.
    private func sorted(_ mapping: TableMapping) -> [ColumnMapping] {
        let names = mapping.order
        let places = Dictionary(names.enumerated().map { ($1.lowercased(), $0) }) { first, _ in first }
        return mapping.columns.enumerated().map { offset, column in
            (place: places[column.name.lowercased()] ?? names.count, offset: offset, column: column)
        }.sorted { ($0.place, $0.offset) < ($1.place, $1.offset) }.map(\.column)
    }

    private func elementPath(_ written: String, _ reader: TableReader) -> XMLPath? {
        guard let path = path(written, reader, "element") else { return nil }
        guard path.target == .text, path.ups == 0, !path.steps.isEmpty else {
            reader.report("element", "'\(written)' is not the path of an element")
            return nil
        }
        return path
    }

    private func path(_ written: String, _ reader: TableReader, _ key: String) -> XMLPath? {
        do {
            return try XMLPathParser.parse(written, namespaces: namespaces)
        } catch {
            reader.report(key, error.description)
            return nil
        }
    }

    static func problem(ofName name: String) -> String? {
        if name.isEmpty { return "a name must not be empty" }
        let reserved = ["tributary_", "sqlite_"].first { name.lowercased().hasPrefix($0) }
        return reserved.map { "a name that begins with '\($0)' is reserved" }
    }

    // MARK: - Columns

    private func columns(_ reader: TableReader) -> [ColumnMapping] {
        var names: Set<String> = []
        return reader.keysInOrder.compactMap { name in
            if !names.insert(name.lowercased()).inserted {
                reader.report(name, "two columns are named '\(name)'; letter case does not tell columns apart")
            }
            if let problem = Self.problem(ofName: name) { reader.report(name, problem) }
            return reader.table(name, orTextFor: "path").flatMap { column(name, $0) }
        }
    }

    private func column(_ name: String, _ reader: TableReader) -> ColumnMapping? {
        let origin = origin(reader)
        var column = ColumnMapping(name: name, origin: origin ?? .name)
        column.type = reader.choice("type", ValueType.self)
        column.format = reader.string("format")
        column.separators = separators(reader, column.type)
        column.fallback = reader.scalar("default")
        column.isRequired = reader.boolean("required") ?? false
        column.repetition = reader.choice("repeat", ColumnMapping.Repeat.self) ?? .first
        if let separator = reader.string("separator") {
            column.separator = separator
            if column.repetition != .join { reader.report("separator", "has a meaning only with repeat = \"join\"") }
        }
        column.values = (reader.scalars("values") ?? []).map { .init(text: $0.name, value: $0.value) }
        column.overwrites = reader.boolean("overwrite") ?? true
        column.isEncrypted = reader.boolean("encrypted") ?? false
        column.isExported = reader.boolean("export") ?? true
        column.onError = reader.choice("on_error", ColumnMapping.OnError.self) ?? .discard
        column.reference = reference(reader)
        checkOptions(column, reader)
        reader.finish()
        return origin == nil ? nil : column
    }

    private func separators(_ reader: TableReader, _ type: ValueType?) -> NumberSeparators? {
        let decimal = reader.string("decimal_separator")
        let group = reader.string("group_separator")
        guard decimal != nil || group != nil else { return nil }
        let key = decimal == nil ? "group_separator" : "decimal_separator"
        switch type {
        case .integer, .real, .decimal: break
        default: reader.report(key, "has a meaning only with type = \"integer\", \"real\" or \"decimal\"")
        }
        guard let separators = NumberSeparators(decimal: decimal, group: group) else {
            reader.report(
                key,
                "separators are one character each that stands in no number, and two different ones; write "
                    + "decimal_separator = \",\" and group_separator = \".\", for instance")
            return nil
        }
        return separators
    }

    private func origin(_ reader: TableReader) -> ColumnMapping.Origin? {
        let given = ["path", "value", "ordinal", "response", "parent", "row", "capture"].filter(reader.has)
        let written = reader.string("path")
        let constant = reader.scalar("value")
        let ordinal = reader.boolean("ordinal")
        let fact = reader.choice("response", ColumnMapping.Fact.self)
        let parent = reader.string("parent")
        let row = reader.string("row")
        let capture = reader.string("capture")
        guard given.count == 1 else {
            reader.problems.report(
                reader.path,
                given.isEmpty
                    ? "the column has no value; give one of path, value, ordinal, response, parent, row, capture"
                    : "the column has several values: \(given.joined(separator: ", ")); one of them must do")
            return nil
        }
        if let written { return path(written, reader, "path").map { .path($0, written: written) } }
        if let constant { return .constant(constant) }
        if let fact { return .response(fact) }
        if let parent { return .parent(parent) }
        if let row { return .sent("row:" + row) }
        if let capture { return .sent("capture:" + capture) }
        if ordinal == false { reader.report("ordinal", "can only be true") }
        return ordinal == true ? .ordinal : nil
    }

    private func reference(_ reader: TableReader) -> ColumnMapping.Reference? {
        let missing = reader.choice("missing", RowShape.Missing.self)
        let updates = reader.boolean("update")
        let set = reader.table("set").map { set in
            set.keys.compactMap { name -> ColumnMapping.SetColumn? in
                guard let column = set.table(name, orTextFor: "path") else { return nil }
                let written = column.string("path")
                let type = column.choice("type", ValueType.self) ?? .text
                column.finish()
                guard let written else {
                    column.problems.report(column.path, "the column has no 'path'")
                    return nil
                }
                return path(written, set, name).map { .init(column: name, path: $0, written: written, type: type) }
            }
        }
        guard let text = reader.string("references") else {
            for key in ["missing", "set", "update"] where reader.has(key) {
                reader.report(key, "has a meaning only beside 'references'")
            }
            return nil
        }
        let parts = text.split(separator: "(", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
        guard parts.count == 2, parts[1].hasSuffix(")"), parts[1].count > 1, !parts[0].isEmpty else {
            reader.report("references", "'\(text)' does not name a table and its column; write \"company(name)\"")
            return nil
        }
        for key in ["set", "update"] where reader.has(key) && missing != .create {
            reader.report(key, "has a meaning only with missing = \"create\"")
        }
        return ColumnMapping.Reference(
            table: parts[0], column: parts[1].dropLast().trimmingCharacters(in: .whitespaces),
            missing: missing ?? .discard, set: set ?? [], updates: updates ?? false)
    }

    private func checkOptions(_ column: ColumnMapping, _ reader: TableReader) {
        let hasPath = reader.has("path")
        let isSent = reader.has("row") || reader.has("capture")
        for key in ["repeat", "values", "default", "references", "format"] where reader.has(key) && !hasPath {
            if isSent, key != "repeat" { continue }
            reader.report(key, "has a meaning only with a 'path'")
        }
        if let format = column.format {
            switch column.type {
            case .date, .datetime:
                if DateFormat(format) == nil {
                    reader.report(
                        "format",
                        "'\(format)' is not a date's format; write \"%d.%m.%Y %H:%M\" or \"dd.MM.yyyy HH:mm\"")
                }
            case .blob:
                if !["hex", "base64"].contains(format) {
                    reader.report("format", "'\(format)' is none of hex, base64")
                }
            default:
                reader.report("format", "has a meaning only with type = \"date\", \"datetime\" or \"blob\"")
            }
        }
        if column.type == .xml, case .path(let path, _) = column.origin, case .attribute = path.target {
            reader.report("type", "an attribute has no markup; 'xml' takes the path of an element")
        }
        if let fallback = column.fallback,
            !ValueConverter(column, cipher: nil).ofConstants.converts(fallback.text),
            !fallback.isText || !ValueConverter(column, cipher: nil).converts(fallback.text)
        {
            reader.report("default", "'\(fallback.text)' is not \(ValueConverter(column, cipher: nil).expectation)")
        }
        if case .constant(let constant) = column.origin, column.type != nil,
            !ValueConverter(column, cipher: nil).converts(constant.text)
        {
            reader.report("value", "'\(constant.text)' is not \(ValueConverter(column, cipher: nil).expectation)")
        }
        if let type = column.type {
            for value in column.values where !ValueConverter(type, format: column.format).converts(value.value.text) {
                reader.report(
                    "values", "'\(value.value.text)', for '\(value.text)', is not \(ValueConverter(type).expectation)")
            }
        }
        if column.isEncrypted, !hasEncryptionKey {
            reader.report("encrypted", "needs 'encryption_key' in [store]: 32 bytes in hex")
        }
    }

    // MARK: - What hangs together

    private static func unknown(column name: String, of table: TableMapping) -> String {
        let nearest = nearestName(to: name, among: table.columns.lazy.map(\.name))
        return "'\(name)' is not a column" + (nearest.map { "; did you mean '\($0)'?" } ?? "")
    }

    /// - Parameter tables: the request's, by their names in lower case.
    private func check(_ table: TableMapping, among tables: [String: [TableMapping]], _ reader: TableReader) {
        let names = Set(table.columns.map { $0.name.lowercased() })
        for key in ["key", "order"] where !table.matchesNames {
            for name in key == "key" ? table.key : table.order where !names.contains(name.lowercased()) {
                if key == "key", scope.contains(name.lowercased()) { continue }
                reader.report(key, Self.unknown(column: name, of: table))
            }
        }
        if let window = table.window {
            if let column = table.column(window) {
                if column.isEncrypted { reader.report("window", "'\(window)' is encrypted, and has no order") }
                if column.type == .decimal {
                    reader.report(
                        "window",
                        "'\(window)' is a decimal, of which long ones are texts and have no order beside numbers; use an "
                            + "integer, a real or a date")
                }
            } else if !table.matchesNames {
                reader.report("window", Self.unknown(column: window, of: table))
            }
            if let sync = table.sync, sync != .mirror {
                reader.report("window", "has a meaning only with sync = \"mirror\"")
            }
        }
        if let within = table.within, table.parentOfMirror == nil {
            reader.report(
                "within", "'\(within)' is not a column with a 'parent'; a mirror is limited to the children of parents")
        }
        if table.within != nil, (table.sync ?? .mirror) != .mirror {
            reader.report("within", "has a meaning only with sync = \"mirror\"")
        }
        for column in table.columns {
            guard case .parent(let parent) = column.origin else { continue }
            let columns = TableReader.place(reader, "columns", column.name)
            guard let enclosing = tables[parent.lowercased()]?.first else {
                let nearest = nearestName(to: parent, among: tables.values.lazy.flatMap { $0 }.map(\.table))
                reader.problems.report(
                    columns,
                    "no table '\(parent)' is mapped by this request" + (nearest.map { "; did you mean '\($0)'?" } ?? "")
                )
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
        for column in table.columns where column.type == .decimal && scope.contains(column.name.lowercased()) {
            reader.problems.report(
                TableReader.place(reader, "columns", column.name),
                "'scope' names this column, and a scope is no decimal; make it text or an integer")
        }
        let twin = tables[table.table.lowercased()]?.first { $0.table == table.table && $0.place != table.place }
        if let twin, twin.key != table.key {
            reader.report("key", "the table '\(table.table)' is mapped twice, with different keys")
        }
    }
}

extension TableReader {
    fileprivate static func place(_ reader: TableReader, _ key: String, _ name: String) -> TOMLKeyPath {
        reader.path.appending(key).appending(name)
    }
}
