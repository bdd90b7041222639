package import FeedConfiguration
import FeedModel
package import FeedStaging
import XMLStream

/// Makes a mapping for every table of the store by its name, for documents that mirror the schema.
///
/// An element named like a table is a row. A child element or an attribute named like a column is its value. Elements
/// in between are passed through. A foreign key is filled from the nearest enclosing record of the other table, or else
/// from one within the record. A foreign key to the record's own table is filled from the nearest enclosing record
/// only.
package struct MirroredCompiler {
    let request: RequestDeclaration
    package let context: WorkerContext

    package init(request: RequestDeclaration, context: WorkerContext) {
        self.request = request
        self.context = context
    }

    package func layouts() throws -> [RecordLayout] {
        let tables = try context.storeTables().map(withFilledColumns)
        let layouts = tables.enumerated().map { index, table in
            let folded = XMLName.folded(table.name)
            let mapping = TableMapping(
                table: table.name, element: XMLPath(steps: [.init(test: .folded(folded))]),
                writtenElement: table.name,
                columns: table.columns.map { ColumnMapping(name: $0.name, origin: .name) }, matchesNames: true)
            let layout = RecordLayout(mapping, index: index)
            layout.slots = mapping.columns.map {
                .init(column: $0, source: .name(XMLName.folded($0.name)), isMarkup: false)
            }
            layout.uniqueKeys = (table.primaryKey.isEmpty ? [] : [table.primaryKey]) + table.uniqueIndexes
            return layout
        }
        for (table, layout) in zip(tables, layouts) { relate(layout, table, layouts, tables) }
        for (table, layout) in zip(tables, layouts) {
            layout.complete()
            layout.makeRows = { [unowned layout] in [try row(layout, table)] }
        }
        return layouts
    }

    /// Leaves out the columns that no document fills: generated ones, and the one that marks rows as gone.
    private func withFilledColumns(_ table: StoredTable) -> StoredTable {
        let gone = request.deletionMark(of: table.name)?.lowercased()
        var table = table
        table.columns.removeAll { $0.isGenerated || $0.name.lowercased() == gone }
        return table
    }

    private func relate(
        _ layout: RecordLayout, _ table: StoredTable, _ layouts: [RecordLayout], _ tables: [StoredTable]
    ) {
        for key in table.foreignKeys where key.columns.count == 1 {
            let column = key.columns[0]
            guard let index = tables.firstIndex(where: { $0.name.lowercased() == key.parentName.lowercased() }),
                let slot = layout.slots.firstIndex(where: { $0.column.name.lowercased() == column.lowercased() })
            else { continue }
            // The number of a record leads to its primary key only.
            let primaryKey = tables[index].primaryKey.map { $0.lowercased() }
            let targets = key.targets.isEmpty ? primaryKey : key.targets.map { $0.lowercased() }
            guard primaryKey.count == 1, targets == primaryKey else { continue }
            let target = layouts[index]
            target.numbersRecords = true
            // The records around a record have lower numbers than its own, those within it higher ones.
            layout.numbersRecords = true
            layout.slots.append(
                .init(column: layout.slots[slot].column, source: .relation(layout.relations.count), isMarkup: false))
            layout.relations.append(
                .init(column: column, target: target, slot: slot, recordSlot: layout.slots.count - 1))
        }
    }

    private func row(_ layout: RecordLayout, _ table: StoredTable) throws -> RecordLayout.Row {
        var shape = RowShape(table: table.name, columns: table.columns.map(\.name))
        var values = table.columns.enumerated().map { slot, column in
            RecordLayout.Value.slot(
                slot, ValueConverter(ValueType(declaredType: column.type), zone: request.timeZone))
        }
        for relation in layout.relations {
            shape.references.append(
                .init(column: relation.column, table: relation.target.mapping.table, lookups: [], missing: .null))
            values.append(.slot(relation.recordSlot, ValueConverter(.integer)))
        }
        if layout.numbersRecords {
            shape.numbersRecords = true
            values.append(.number)
        }
        let writer = try context.writer(
            for: shape,
            rule: MergeRule(
                sync: request.sync, scope: request.scope, window: request.window.map { MirrorWindow(column: $0) }))
        return RecordLayout.Row(writer: writer, values: values, condition: nil)
    }
}
