import FeedModel
import Foundation
import XMLStream

/// Reads the `tables` of a request, and reports what is wrong with them.
struct MappingReader {
    let request: DeclarationReader
    let namespaces: [String: String]
    let parsers: any BodyParsing
    /// The columns that the request's scope names, in lower case. Rows have them even if they are not mapped.
    let scope: Set<String>

    /// - Parameter request: the request's table; its keys `tables`, `namespaces`, `root` and `expand` are read.
    init(_ request: DeclarationReader, scope: Set<String>, parsers: any BodyParsing) {
        self.parsers = parsers
        self.scope = scope
        self.request = request
        namespaces = (request[RequestKeys.all.namespaces] ?? [:]).mapValues(\.value)
    }

    /// Reads the mapping; nil if the request declares no tables.
    func read() -> RequestMapping? {
        let keys = RequestKeys.all
        let root = request[keys.root]
        let expands = request.value(of: keys.expand)
        guard let readers = request.tables(keys.tables) else { return nil }
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

    func table(_ reader: DeclarationReader) -> TableMapping? {
        let keys = TableKeys.all
        reader.finish()
        let name = reader[keys.table]
        let written = reader[keys.element]
        let element = written.flatMap { elementPath($0, reader) }
        let declared = reader.table(keys.columns)
        let columns = declared.map(columns)
        // A column with a mistake would be one.
        if let columns, columns.count == declared?.keysInOrder.count, !columns.contains(where: \.isStored) {
            reader.report("columns", "a table needs at least one column" + (columns.isEmpty ? "" : " that is stored"))
        }
        guard let name, let written, let element else { return nil }
        var mapping = TableMapping(
            table: name, element: element, writtenElement: written, columns: columns ?? [], matchesNames: columns == nil
        )
        mapping.place = reader.place
        mapping.key = reader[keys.key] ?? []
        mapping.order = reader[keys.order] ?? []
        mapping.sync = reader[keys.sync]
        mapping.window = reader[keys.window]
        mapping.within = reader[keys.within]
        mapping.source = reader.path.names.first == "sources" ? reader.path.names.dropFirst().first : nil
        mapping.filter = reader[keys.filter]
        mapping.minRows = reader.value(of: keys.minRows)
        mapping.maxDeleted = reader[keys.maxDeleted]
        mapping.maxChanged = reader[keys.maxChanged]
        mapping.deleted = reader[keys.deleted]
        mapping.expiry = reader[keys.expire]
        mapping.duplicates = reader.value(of: keys.duplicates)
        if let condition = reader[keys.deletedWhen] { delete(when: condition, &mapping, reader) }
        mapping.columns = sorted(mapping)
        return mapping
    }

    /// Gives a table the column of its `deleted_when`.
    private func delete(when condition: String, _ mapping: inout TableMapping, _ reader: DeclarationReader) {
        let name = TableMapping.deletionColumn
        if let column = mapping.column(name) {
            reader.report("columns", "the column '\(column.name)' has the name of a key", help: "give it another")
            return
        }
        for name in mapping.key {
            guard let column = mapping.column(name), column.reference != nil else { continue }
            reader.report(
                "deleted_when",
                "needs a key whose values are in the feed, and '\(column.name)' is looked up by 'references'")
        }
        var column = ColumnMapping(name: name, origin: .sql(condition))
        column.isStored = false
        column.isExported = false
        mapping.columns.append(column)
        mapping.deletedWhen = condition
    }

    /// Returns the columns that `order` names, then the others in the order of the file.
    func sorted(_ mapping: TableMapping) -> [ColumnMapping] {
        let names = mapping.order
        guard !names.isEmpty else { return mapping.columns }
        let places = Dictionary(names.enumerated().map { ($1.lowercased(), $0) }) { first, _ in first }
        return mapping.columns.enumerated().map { offset, column in
            (place: places[column.name.lowercased()] ?? names.count, offset: offset, column: column)
        }.sorted { ($0.place, $0.offset) < ($1.place, $1.offset) }.map(\.column)
    }

    func elementPath(_ written: String, _ reader: DeclarationReader) -> XMLPath? {
        guard var path = path(written, reader, "element") else { return nil }
        guard path.target == .text, path.ups == 0, !path.steps.isEmpty else {
            reader.report("element", "'\(written)' is not the path of an element")
            return nil
        }
        // A record is at any depth unless its path begins at the root.
        if path.isAnywhere { (path.isAbsolute, path.isAnywhere) = (false, false) }
        return path
    }

    func path(_ written: String, _ reader: DeclarationReader, _ key: String) -> XMLPath? {
        reader.path(written, key, namespaces: namespaces)
    }

    // MARK: - Columns

    func columns(_ reader: DeclarationReader) -> [ColumnMapping] {
        var names: Set<String> = []
        return reader.keysInOrder.compactMap { name in
            if !names.insert(name.lowercased()).inserted {
                reader.report(name, "two columns are named '\(name)'; letter case does not distinguish columns")
            }
            if let problem = NewName.problem(name) { reader.report(name, problem) }
            if let path = plainPath(reader.nodes[name]) { return ColumnMapping(name: name, origin: path) }
            return reader.table(name, of: ColumnKeys.self, orTextFor: "path").flatMap { column(name, $0) }
        }
    }

    /// Returns the origin of a column that is given as nothing but a path; nil for any other, and for a mistake.
    private func plainPath(_ value: TOMLValue?) -> ColumnMapping.Origin? {
        guard let written = value?.string, !written.utf8.contains(UInt8(ascii: "$")) else { return nil }
        return (try? XMLPathParser.parse(written, namespaces: namespaces)).map { .path($0, written: written) }
    }

    func column(_ name: String, _ reader: DeclarationReader) -> ColumnMapping? {
        reader.finish()
        let keys = ColumnKeys.all
        let origin = origin(reader)
        var column = ColumnMapping(name: name, origin: origin ?? .name)
        column.type = reader[keys.type]
        column.format = reader[keys.format]
        column.separators = separators(reader)
        column.timeZone = reader[keys.timeZone]?.rules
        column.fallback = reader[keys.fallback]
        column.isRequired = reader.value(of: keys.required)
        column.repetition = reader.value(of: keys.repetition)
        if let separator = reader[keys.separator] { column.separator = separator }
        column.values = (reader[keys.values] ?? []).map { .init(text: $0.name, value: $0.value) }
        column.overwrites = reader.value(of: keys.overwrite)
        column.isEncrypted = reader.value(of: keys.encrypted)
        column.isStored = reader.value(of: keys.stored)
        readExport(reader, &column)
        column.onError = reader.value(of: keys.onError)
        column.reference = reference(reader)
        checkOptions(column, reader)
        return origin == nil ? nil : column
    }

    func separators(_ reader: DeclarationReader) -> NumberSeparators? {
        let decimal = reader[ColumnKeys.all.decimalSeparator]
        let group = reader[ColumnKeys.all.groupSeparator]
        guard decimal != nil || group != nil else { return nil }
        guard let separators = NumberSeparators(decimal: decimal, group: group) else {
            reader.report(
                decimal == nil ? "group_separator" : "decimal_separator",
                "a separator is one character that no number contains, and the two must differ",
                help: "write "
                    + "decimal_separator = \",\" and group_separator = \".\", for example")
            return nil
        }
        return separators
    }

    func origin(_ reader: DeclarationReader) -> ColumnMapping.Origin? {
        let keys = ColumnKeys.all
        let given = reader.present(
            keys.path, keys.value, keys.ordinal, keys.response, keys.parent, keys.row, keys.capture, keys.sql
        )
        guard given.count == 1 else { return nil }
        if let written = reader[keys.path] { return path(written, reader, "path").map { .path($0, written: written) } }
        if let constant = reader[keys.value] { return .constant(constant) }
        if let fact = reader[keys.response] { return .response(fact) }
        if let parent = reader[keys.parent] { return .parent(parent) }
        if let sql = reader[keys.sql] { return .sql(sql) }
        if let row = reader[keys.row] { return .sent(.row(row)) }
        if let capture = reader[keys.capture] { return .sent(.capture(capture)) }
        switch reader[keys.ordinal] {
        case .boolean(true): return .ordinal(.siblings)
        case .text("parent"): return .ordinal(.parent)
        case .text("document"): return .ordinal(.document)
        case nil: return nil
        case let other?:
            let found = other.isText ? "'\(other.text)'" : other.text
            reader.report("ordinal", "expected true, \"parent\" or \"document\", found \(found)")
            return nil
        }
    }

    func reference(_ reader: DeclarationReader) -> ColumnMapping.Reference? {
        let keys = ColumnKeys.all
        let set = reader.table(keys.set).map { set in
            set.keys.compactMap { name -> ColumnMapping.SetColumn? in
                guard let column = set.table(name, of: SetColumnKeys.self, orTextFor: "path") else { return nil }
                column.finish()
                guard let written = column[SetColumnKeys.all.path] else { return nil }
                let type = column.value(of: SetColumnKeys.all.type)
                return path(written, set, name).map { .init(column: name, path: $0, written: written, type: type) }
            }
        }
        guard let text = reader[keys.references] else { return nil }
        let parts = text.split(separator: "(", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
        guard parts.count == 2, parts[1].hasSuffix(")"), parts[1].count > 1, !parts[0].isEmpty else {
            reader.report(
                "references", "'\(text)' does not name a table and its column", help: "write \"company(name)\"")
            return nil
        }
        return ColumnMapping.Reference(
            table: parts[0], column: parts[1].dropLast().trimmingCharacters(in: .whitespaces),
            missing: reader.value(of: keys.missing), set: set ?? [], updates: reader.value(of: keys.update))
    }
}
