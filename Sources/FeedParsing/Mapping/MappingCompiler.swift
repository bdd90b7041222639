package import FeedConfiguration
package import FeedModel
package import FeedStaging
import Foundation
import XMLStream

/// Prepares a mapping for one response: the values that a record gathers, and the rows of the store that they become.
package struct MappingCompiler {
    let mapping: RequestMapping
    let request: RequestDeclaration
    let response: FeedResponse
    let context: WorkerContext
    package let encryptionKey: EncryptionKey?
    private let expressions: ExpressionPool

    package init(
        mapping: RequestMapping, request: RequestDeclaration, response: FeedResponse, context: WorkerContext,
        encryptionKey: EncryptionKey?, expressions: ExpressionPool = ExpressionPool()
    ) {
        self.mapping = mapping
        self.request = request
        self.response = response
        self.context = context
        self.encryptionKey = encryptionKey
        self.expressions = expressions
    }

    package func layouts() throws -> [RecordLayout] {
        let tables = try mapping.tables.map(withNamedColumns).map(withScope)
        let layouts = tables.enumerated().map { RecordLayout($1, index: $0) }
        do {
            for layout in layouts { try gatherSlots(layout, layouts) }
            for layout in layouts { try makeRows(layout, layouts) }
        } catch {
            // No handler will do it.
            for layout in layouts { layout.forgetOthers() }
            throw error
        }
        return layouts
    }

    /// Gives a table that matches columns by name the columns of the store's table.
    private func withNamedColumns(_ table: TableMapping) throws -> TableMapping {
        guard table.matchesNames else { return table }
        var table = table
        let columns = try context.columns(of: table.table)
        let gone = request.deletionMark(of: table)?.lowercased()
        table.columns = columns.filter { $0.name.lowercased() != gone }.map {
            var column = ColumnMapping(name: $0.name, origin: .name)
            column.timeZone = request.timeZone
            return column
        }
        if table.key.isEmpty { table.key = try context.primaryKey(of: table.table) }
        return table
    }

    /// Gives columns of the scope the scope's value as fallback, for rows whose feed has none.
    private func withScope(_ table: TableMapping) -> TableMapping {
        var table = table
        for (name, value) in request.scope {
            guard let index = table.columns.firstIndex(where: { $0.name.lowercased() == name.lowercased() }),
                table.columns[index].fallback == nil
            else { continue }
            switch table.columns[index].origin {
            case .path, .name, .sent, .sql: table.columns[index].fallback = .text(value)
            case .constant, .ordinal, .response, .parent: break
            }
        }
        return table
    }

    private func gatherSlots(_ layout: RecordLayout, _ layouts: [RecordLayout]) throws {
        for column in layout.mapping.columns {
            guard let source = try source(of: column, layout, layouts) else { continue }
            layout.slots.append(.init(column: column, source: source, isMarkup: column.type == .xml))
            for set in column.reference?.set ?? [] {
                var setColumn = ColumnMapping(name: set.column, origin: .path(set.path, written: set.written))
                setColumn.type = set.type
                layout.slots.append(.init(column: setColumn, source: .path(set.path), isMarkup: set.type == .xml))
            }
        }
        // A record whose parent gives way to a later one goes with it.
        for case .parent(let parent, _) in layout.slots.map(\.source) {
            parent.numbersRecords = true
            layout.around.append((layout.slots.count, parent))
            layout.slots.append(
                .init(column: ColumnMapping(name: "", origin: .name), source: .record(parent), isMarkup: false))
        }
        for parent in layout.parents where !parent.children.contains(where: { $0 === layout }) {
            parent.children.append(layout)
        }
        layout.complete()
    }

    private func source(of column: ColumnMapping, _ layout: RecordLayout, _ layouts: [RecordLayout]) throws
        -> RecordLayout.Source?
    {
        switch column.origin {
        case .path(let path, _): return .path(path)
        case .name: return .name(XMLName.folded(column.name))
        case .ordinal(let count): return .ordinal(count)
        case .constant(.text(let text)) where column.isConverted: return .given(text)
        case .constant, .response: return nil
        case .sent(let reference): return .given(request.given[reference.description] ?? nil)
        case .sql: return .expression
        case .parent(let table):
            // `check` has made sure that the table exists.
            guard let parent = layouts.first(where: { $0.mapping.table.lowercased() == table.lowercased() }) else {
                return nil
            }
            if let key = try keyInFeed(of: parent.mapping) { return .parent(parent, slot: key) }
            guard try context.primaryKey(of: table).count == 1 else {
                throw StoreError(
                    .schema,
                    "the column '\(column.name)' of table '\(layout.mapping.table)' holds the key of its parent, but table "
                        + "'\(table)' has no primary key of one column")
            }
            parent.numbersRecords = true
            return .record(parent)
        }
    }

    private func source(ofOwn column: ColumnMapping) -> Bool {
        switch column.origin {
        case .constant: column.isConverted
        case .response: false
        default: true
        }
    }

    /// Returns the slot of the parent's primary key, where the feed has it.
    private func keyInFeed(of table: TableMapping) throws -> Int? {
        let key = try context.primaryKey(of: table.table)
        // A derived key is known only once the record is complete.
        guard key.count == 1, !table.matchesNames, table.column(key[0])?.isDerived != true else { return nil }
        return slotIndex(of: key[0], in: table)
    }

    /// Returns the slot that a column will have. Each column before it has one, plus one for each column that its
    /// reference sets.
    private func slotIndex(of name: String, in table: TableMapping) -> Int? {
        var index = 0
        for column in table.columns where source(ofOwn: column) {
            if column.name.lowercased() == name.lowercased() { return index }
            index += 1 + (column.reference?.set.count ?? 0)
        }
        return nil
    }

    // MARK: - Rows

    private func makeRows(_ layout: RecordLayout, _ layouts: [RecordLayout]) throws {
        let table = layout.mapping
        let types = Dictionary(
            try context.columns(of: table.table).map { ($0.name.lowercased(), $0.type) }
        ) { first, _ in first }
        var shape = RowShape(table: table.table, columns: [])
        var values: [RecordLayout.Value] = []
        var lookups: [RecordLayout.Value] = []
        // The positions among them of what a deleted record keeps: the records around it, and what it is.
        var kept: Set<Int> = []
        func keep(_ value: RecordLayout.Value) {
            kept.insert(lookups.count)
            lookups.append(value)
        }
        var created: [RecordLayout.Row] = []
        layout.expressions = try RecordExpressions(of: layout, context: context, pool: expressions) {
            try input($0, layout, types)
        }
        for column in table.storedColumns {
            let slot = layout.slots.firstIndex { $0.column == column }
            switch column.origin {
            case .constant(let constant) where !column.isConverted:
                values.append(.fixed(constant))
            case .response(let fact):
                values.append(.fact(text(of: fact)))
            case .parent(let parentTable):
                guard let slot else { continue }
                guard case .parent(let parent, let key) = layout.slots[slot].source else {
                    shape.references.append(
                        .init(column: column.name, table: parentTable, lookups: [], missing: .discard))
                    keep(.slot(slot, ValueConverter(.integer)))
                    continue
                }
                values.append(.slot(slot, try converter(for: parent.slots[key].column, in: parent.mapping.table)))
            case .path, .name, .ordinal, .sent, .constant, .sql:
                guard let slot else { continue }
                let derived = layout.expressions?.outputs[column.name.lowercased()]
                func value(_ converter: ValueConverter) -> RecordLayout.Value {
                    derived.map { .derived($0, slot: slot, converter) } ?? .slot(slot, converter)
                }
                if let reference = column.reference {
                    let converter = try converter(for: column, named: reference.column, in: reference.table)
                    shape.references.append(
                        .init(
                            column: column.name, table: reference.table, lookups: [reference.column],
                            missing: reference.missing))
                    lookups.append(value(converter))
                    if reference.missing == .create {
                        created.append(try row(creating: reference, column, slot, value(converter), layout))
                    }
                    continue
                }
                let converter = ValueConverter(
                    column, declaredType: types[column.name.lowercased()], type: column.isOrdinal ? .integer : nil,
                    cipher: cipher(column, table.table))
                values.append(value(converter))
            }
            shape.columns.append(column.name)
        }
        shape.duplicates = table.duplicates
        shape.insertOnly = Set(table.columns.filter { !$0.overwrites }.map(\.name))
        for (slot, parent) in layout.around {
            shape.enclosing.append(parent.mapping.table)
            keep(.slot(slot, ValueConverter(.integer)))
        }
        if layout.numbersRecords {
            shape.numbersRecords = true
            keep(.number)
        }
        if table.deletedWhen != nil {
            shape.marksDeleted = true
            keep(.isDeleted)
            let key = try table.key.isEmpty ? context.primaryKey(of: table.table) : table.key
            let names = Set(key.map { $0.lowercased() })
            layout.staysWhenDeleted =
                shape.columns.map { names.contains($0.lowercased()) } + lookups.indices.map(kept.contains)
        }
        let window = request.window(of: table)
        // When parents are deleted, their children must be, too. With a window over the parents, they are already among
        // the rows that it deletes.
        if window?.parents.isEmpty ?? true, let within = table.within, let parent = table.parentOfMirror {
            shape.within = .init(column: within, parent: parent)
        }
        for child in request.content.mapping?.tables ?? []
        where child.parentOfMirror?.lowercased() == table.table.lowercased() && request.sync(of: child) == .mirror {
            shape.mirroredWithin.insert(child.table)
        }
        let rule = MergeRule(
            sync: request.sync(of: table), scope: request.scope, window: window,
            // A table whose columns match by name gets its key when the columns found are known.
            keys: table.key.isEmpty || table.matchesNames ? [:] : [table.table: table.key])
        let writer = try context.writer(for: shape, rule: rule)
        layout.rows = [.init(writer: writer, values: values + lookups, condition: nil)] + created
    }

    private func row(
        creating reference: ColumnMapping.Reference, _ column: ColumnMapping, _ slot: Int, _ value: RecordLayout.Value,
        _ layout: RecordLayout
    ) throws -> RecordLayout.Row {
        var shape = RowShape(table: reference.table, columns: [reference.column] + reference.set.map(\.column))
        shape.isLookUp = true
        let writer = try context.writer(
            for: shape,
            rule: MergeRule(
                sync: reference.updates ? .upsert : .insert, keys: [reference.table: [reference.column]]))
        let set = reference.set.indices.map { index in
            RecordLayout.Value.slot(
                slot + 1 + index, ValueConverter(reference.set[index].type, zone: column.timeZone))
        }
        return .init(writer: writer, values: [value] + set, condition: slot)
    }

    /// Returns the converter for a value. Without a type in the mapping, the value takes that of the column it is
    /// compared with.
    func converter(for column: ColumnMapping, named name: String? = nil, in table: String) throws
        -> ValueConverter
    {
        let name = (name ?? column.name).lowercased()
        let declaredType = try context.columns(of: table).first { $0.name.lowercased() == name }?.type
        return ValueConverter(column, declaredType: declaredType, cipher: nil)
    }

    private func cipher(_ column: ColumnMapping, _ table: String) -> ColumnCipher? {
        guard column.isEncrypted, let encryptionKey else { return nil }
        return ColumnCipher(key: encryptionKey, table: table, column: column.name)
    }

    func text(of fact: ColumnMapping.Fact) -> String? {
        switch fact {
        case .url: return response.requestedURL
        case .fetchedAt: return Lexical.iso8601(response.fetchedAt)
        case .lastModified:
            guard var text = response[header: "Last-Modified"] else { return nil }
            return text.withUTF8 { Lexical.date($0) }.map(Lexical.iso8601)
        case .member: return response.member
        }
    }
}

extension ValueType {
    /// Creates the type for a column of the store, where the mapping gives none.
    init(declaredType: String) {
        let name = declaredType.uppercased()
        // Types of PostgreSQL that SQLite's rules would take for numbers.
        if ["INTERVAL", "POINT", "MULTI"].contains(where: name.hasPrefix) || name.contains("RANGE")
            || name.hasSuffix("[]")
        {
            self = .text
            return
        }
        switch Affinity(declaredType: declaredType) {
        case .integer: self = .integer
        case .real: self = .real
        case .numeric where name.contains("BOOL"): self = .boolean
        case .numeric where name.contains("DATETIME") || name.contains("TIMESTAMP"): self = .datetime
        case .numeric where name.contains("DATE"): self = .date
        case .numeric where name == "BYTEA": self = .blob
        case .numeric where name.contains("DEC") || name.contains("NUM"): self = .decimal
        default: self = .text
        }
    }
}

extension MappingCompiler {
    /// Returns the value that expressions see of a column: as the feed has it, before references and encryption.
    func input(_ column: ColumnMapping, _ layout: RecordLayout, _ types: [String: String]) throws
        -> (value: RecordLayout.Value, kind: ValueConverter.Kind?)
    {
        switch column.origin {
        case .constant(let constant) where !column.isConverted: return (.fixed(constant), nil)
        case .response(let fact): return (.fact(text(of: fact)), .text)
        default: break
        }
        guard let slot = layout.slots.firstIndex(where: { $0.column == column }) else { return (.fact(nil), nil) }
        var converter = ValueConverter(
            column, declaredType: types[column.name.lowercased()], type: column.isOrdinal ? .integer : nil,
            cipher: nil)
        if let reference = column.reference {
            converter = try self.converter(for: column, named: reference.column, in: reference.table)
        }
        if case .parent = column.origin {
            guard case .parent(let parent, let key) = layout.slots[slot].source else {
                throw MappingError(
                    "table '\(layout.mapping.table)': an expression uses the column '\(column.name)', which is the key "
                        + "that the store gives the parent, and no value of the feed")
            }
            converter = try self.converter(for: parent.slots[key].column, in: parent.mapping.table)
        }
        return (.slot(slot, converter), converter.kind)
    }
}
