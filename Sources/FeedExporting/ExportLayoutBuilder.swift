import FeedConfiguration
import FeedStaging
import Foundation
import GRDB
import XMLStream

/// Reverses a mapping: finds the elements as which its rows are written.
struct ExportLayoutBuilder {
    let mapping: RequestMapping
    package let encryptionKey: EncryptionKey?
    /// Returns the primary key of a table of the store.
    let primaryKey: (String) throws -> [String]

    /// Returns the root, the table whose only record is the root, if any, and the tables whose records are not within
    /// those of another. Each has the tables of the records within its own.
    func layout() throws -> (root: ExportElement, document: ExportTable?, tables: [ExportTable]) {
        let tables = mapping.tables.map(ExportTable.init)
        for table in tables { table.levels = levels(of: table.mapping) }
        // The table whose record is the document itself.
        let document = tables.first {
            $0.levels.count == 1 && ($0.mapping.element.isAbsolute || $0.levels[0].name == mapping.root)
        }
        let root = document?.record ?? ExportElement(rootName(tables))
        var outermost: [ExportTable] = []
        for table in tables {
            if let outer = try enclosing(table, among: tables) {
                outer.nested.append(table)
            } else if table !== document || table.isRecursive {
                outermost.append(table)
            }
        }
        if let document {
            try place(document, below: [], isOutermost: true)
            number(document)
        }
        for table in outermost { try place(table, below: [root], isOutermost: true) }
        for table in outermost { number(table) }
        return (root, document, outermost)
    }

    // MARK: - Elements

    private func levels(of table: TableMapping) -> [ExportElement] {
        table.element.steps.map { ExportElement(name($0.test), fixed: fixed($0)) }
    }

    private func name(_ test: XMLPath.NameTest) -> String { test == .any ? "any" : test.description }

    /// Returns the attributes that an element must have for a step to find it. Where names without a prefix are in a
    /// namespace, a name in none says so.
    private func fixed(_ step: XMLPath.Step) -> [(name: String, value: String)] {
        var isInNone = false
        if case .unqualified = step.test { isInNone = mapping.namespaces.contains { $0.prefix.isEmpty } }
        return step.predicates.reduce(into: isInNone ? [("xmlns", "")] : []) { fixed, predicate in
            let name = name(predicate.attribute)
            switch predicate.condition {
            case .equals(let value): fixed.append((name, value))
            case .differs: fixed.append((name, ""))
            case .includes(let word):
                if let known = fixed.firstIndex(where: { $0.name == name }) {
                    fixed[known].value += " " + word
                } else {
                    fixed.append((name, word))
                }
            case .exists: break
            }
        }
    }

    private func rootName(_ tables: [ExportTable]) -> String {
        if let root = mapping.root { return root }
        let absolute = tables.first { $0.mapping.element.isAbsolute }
        let path = tables.lazy.flatMap(\.mapping.columns).compactMap(\.path).first {
            $0.isAbsolute && !$0.isAnywhere && !$0.steps.isEmpty
        }
        return absolute?.levels.first?.name ?? path.map { name($0.steps[0].test) } ?? "data"
    }

    // MARK: - Nesting of records

    /// Finds the rows around those of a table.
    ///
    /// - Returns: the other table that has them; nil for a table whose rows are in none, or only within one another.
    private func enclosing(_ table: ExportTable, among tables: [ExportTable]) throws -> ExportTable? {
        var enclosing: ExportTable?
        for column in table.mapping.columns {
            guard let parent = column.parent,
                let outer = tables.first(where: { $0.mapping.table.lowercased() == parent.lowercased() }),
                let key = try primaryKey(parent).first
            else { continue }
            if outer === table {
                table.selfJoin = [(column.name, key)]
            } else if enclosing == nil {
                table.join = [(column.name, key)]
                enclosing = outer
            }
        }
        if let enclosing { shorten(table, within: enclosing) }
        if enclosing != nil || table.isRecursive { return enclosing }
        for outer in tables where outer !== table {
            let below = table.levels.count - overlap(table, outer)
            guard below > 0 else { continue }
            // Of two records at one depth, neither is within the other.
            let pairs = table.mapping.columns.compactMap { column -> (column: String, outer: String)? in
                guard var path = column.path, path.ups >= max(below, 1) else { return nil }
                path.ups -= below
                return outer.mapping.columns.first { $0.path == path }.map { (column.name, $0.name) }
            }
            let key = outer.mapping.key
            guard !key.isEmpty, key.allSatisfy({ column in pairs.contains { $0.outer == column } }) else { continue }
            table.join = pairs
            shorten(table, within: outer)
            return outer
        }
        return nil
    }

    /// Returns how many of the first steps to the inner record lead to the outer one.
    private func overlap(_ inner: ExportTable, _ outer: ExportTable) -> Int {
        let innerSteps = inner.mapping.element.steps
        let outerSteps = outer.mapping.element.steps
        let isAbsolute = inner.mapping.element.isAbsolute && outer.mapping.element.isAbsolute
        return (1..<max(innerSteps.count, 1)).last { count in
            // The steps that both paths have to the outer record must be the same.
            let shared = min(count, outerSteps.count)
            return innerSteps.prefix(count).suffix(shared).elementsEqual(outerSteps.suffix(shared))
                && (!isAbsolute || count == outerSteps.count)
        } ?? 0
    }

    private func shorten(_ table: ExportTable, within outer: ExportTable) {
        table.levels.removeFirst(overlap(table, outer))
    }

    // MARK: - Placing fields

    /// - Parameters:
    ///   - around: the elements around the table's own, from the root to the record that encloses it.
    ///   - owners: for each of these elements, the tables on the way from there. The first is the table whose rows the
    ///     element belongs to. The last is the one around the table.
    private func place(
        _ table: ExportTable, below around: [ExportElement], owners: [[ExportTable]] = [[]], isOutermost: Bool
    ) throws {
        if isOutermost, let root = around.first, table.levels.first?.name == root.name {
            if table.mapping.element.isAbsolute || mapping.root != nil, table.levels.count > 1 {
                table.levels.removeFirst()
            }
        }
        let ups = table.mapping.columns.compactMap(\.path).filter { !$0.isAbsolute }.map(\.ups).max() ?? 0
        // The path does not name the elements further up, so any name will do.
        while isOutermost, table.levels.count <= ups, !table.mapping.element.isAbsolute {
            table.levels.insert(ExportElement("group"), at: 0)
        }
        let chain = around + table.levels
        for column in sorted(table.mapping) where column.isExported && !isToldBelow(column, table) {
            for (path, field) in try fields(of: column, table.mapping) {
                let place = path.isAbsolute ? 0 : chain.count - 1 - path.ups
                guard place >= 0 else { continue }
                if place < around.count {
                    borrow(field, path, at: around[place], from: table, through: owners[place])
                    continue
                }
                put(field, path, in: chain[place])
            }
        }
        let within = owners.map { $0.isEmpty ? [] : $0 + [table] } + table.levels.map { _ in [table] }
        for inner in table.nested { try place(inner, below: chain, owners: within, isOutermost: false) }
    }

    /// True if the path leads into a record of an inner table, which has the value itself.
    private func isToldBelow(_ column: ColumnMapping, _ table: ExportTable) -> Bool {
        guard let path = column.path, path.ups == 0, !path.isAbsolute else { return false }
        return table.nested.contains { inner in
            let steps = inner.levels.map(\.name)
            guard path.steps.count >= steps.count, zip(path.steps, steps).allSatisfy({ name($0.test) == $1 }) else {
                return false
            }
            var rest = path
            rest.steps.removeFirst(steps.count)
            return inner.mapping.columns.contains { $0.path == rest }
        }
    }

    /// Places a value of an element further out. Any row within that element can supply it, where the element's own row
    /// does not.
    private func borrow(
        _ field: ExportField, _ path: XMLPath, at element: ExportElement, from table: ExportTable,
        through owners: [ExportTable]
    ) {
        var path = path
        if path.isAbsolute, !path.isAnywhere { path.steps.removeFirst() }
        let value = field.value("c0")
        var source = "store.\(table.mapping.table.sqlIdentifier) c0"
        var conditions = ["\(value) IS NOT NULL"]
        // From the inner table outwards, each table is joined to the one around it.
        let way = [table] + owners.dropFirst().reversed()
        for (index, inner) in way.enumerated() where !owners.isEmpty {
            let isLast = index == way.count - 1
            let outer = isLast ? "m" : "c\(index + 1)"
            if !isLast { source += ", store.\(way[index + 1].mapping.table.sqlIdentifier) c\(index + 1)" }
            conditions += inner.join.map {
                "c\(index).\($0.column.sqlIdentifier) = \(outer).\($0.outer.sqlIdentifier)"
            }
        }
        var field = field
        let borrowed = "(SELECT \(value) FROM \(source) WHERE \(conditions.joined(separator: " AND ")) LIMIT 1)"
        field.value = { _ in borrowed }
        put(field, path, in: element)
    }

    private func put(_ field: ExportField, _ path: XMLPath, in start: ExportElement) {
        var element = start
        var outer = start
        for (index, step) in path.steps.enumerated() {
            outer = element
            // Each markup has its own element.
            if index == path.steps.count - 1, field.column.type == .xml {
                let own = ExportElement(name(step.test))
                own.markup = field
                return element.children.append(own)
            }
            if element.children.contains(where: { $0.name == name(step.test) && $0.markup != nil }) { return }
            element = element.child(name(step.test), fixed: fixed(step))
        }
        if path.steps.isEmpty, field.column.type == .xml, start.markup == nil {
            start.markup = field
            return
        }
        switch path.target {
        case .attribute(let test):
            if element.attributes.contains(where: { $0.name == name(test) }) {
                // The last of several values comes after the first.
                guard field.column.repetition == .last, element !== start else { return }
                element = ExportElement(element.name, fixed: element.fixed)
                outer.children.append(element)
            }
            element.attributes.append((name(test), field))
        case .text, .deepText:
            if element.text != nil {
                guard field.column.repetition == .last, element !== start else { return }
                element = ExportElement(element.name, fixed: element.fixed)
                outer.children.append(element)
            }
            element.text = field
        }
    }

    /// Returns the columns in the mapping's order, those with more conditions last. A name without a prefix matches in
    /// any namespace, and a step without a condition matches any attributes. In this order the first match stays the
    /// first.
    private func sorted(_ table: TableMapping) -> [ColumnMapping] {
        func rank(_ column: ColumnMapping) -> Int {
            guard let path = column.path else { return 0 }
            // Markup comes first, because it holds the values that other columns take from the same element.
            if column.type == .xml { return -1 }
            if path.steps.contains(where: { !$0.predicates.isEmpty }) { return 2 }
            var tests = path.steps.map(\.test)
            if case .attribute(let test) = path.target { tests.append(test) }
            return tests.contains { if case .qualified = $0 { true } else { false } } ? 1 : 0
        }
        return (-1...2).flatMap { wanted in table.columns.filter { rank($0) == wanted } }
    }

    private func fields(of column: ColumnMapping, _ table: TableMapping) throws -> [(XMLPath, ExportField)] {
        guard let path = column.path else { return [] }
        guard let reference = column.reference else {
            let name = column.name.sqlIdentifier
            let field = ExportField(column: column, table: table.table, encryptionKey: encryptionKey) {
                "\($0).\(name)"
            }
            return [(path, field)]
        }
        let key = try primaryKey(reference.table).first ?? "rowid"
        @Sendable func other(_ name: String, _ alias: String) -> String {
            "(SELECT t.\(name.sqlIdentifier) FROM store.\(reference.table.sqlIdentifier) t "
                + "WHERE t.\(key.sqlIdentifier) = \(alias).\(column.name.sqlIdentifier))"
        }
        var fields = [
            (path, ExportField(column: column, table: table.table) { other(reference.column, $0) })
        ]
        guard reference.updates || mapping.expandsReferences else { return fields }
        for set in reference.set {
            var setColumn = ColumnMapping(name: set.column, origin: .path(set.path, written: set.written))
            setColumn.type = set.type
            let field = ExportField(column: setColumn, table: reference.table) { other(set.column, $0) }
            fields.append((set.path, field))
        }
        return fields
    }

    /// Gives each field its position among the values selected for a row.
    private func number(_ table: ExportTable) {
        var next = 0
        for level in table.levels { level.numberFields(&next) }
        for inner in table.nested { number(inner) }
    }
}
