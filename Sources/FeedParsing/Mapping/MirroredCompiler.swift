package import FeedDeclarations
import FeedModel
package import FeedStore
import XMLStream

/// Makes every table of the store a mapping of its own name: for documents that mirror the schema.
///
/// An element named like a table is a row; a child element or an attribute named like a column is its value; an element in
/// between is looked through. A foreign key is filled from the nearest record of the other table around the record, or
/// else within it; one to the record's own table from the nearest around it.
package struct MirroredCompiler {
    let request: RequestDeclaration
    package let context: WorkerContext
    var notesUnused = false

    package init(request: RequestDeclaration, context: WorkerContext, notesUnused: Bool = false) {
        self.request = request
        self.context = context
        self.notesUnused = notesUnused
    }

    package func plans() throws -> [RecordPlan] {
        let tables = try context.storeTables()
        let plans = tables.enumerated().map { index, table in
            let folded = XMLName.folded(table.name)
            let mapping = TableMapping(
                table: table.name, element: XMLPath(steps: [.init(test: .folded(folded))]),
                writtenElement: table.name, key: [], order: [], sync: nil, within: nil,
                columns: table.columns.map { ColumnMapping(name: $0.name, origin: .name) }, matchesNames: true,
                place: "")
            let plan = RecordPlan(mapping, index: index)
            plan.slots = mapping.columns.map {
                .init(column: $0, source: .name(XMLName.folded($0.name)), isMarkup: false)
            }
            plan.uniqueKeys = (table.primaryKey.isEmpty ? [] : [table.primaryKey]) + table.uniqueKeys
            plan.notesFound = true
            return plan
        }
        for (table, plan) in zip(tables, plans) { relate(plan, table, plans, tables) }
        for (table, plan) in zip(tables, plans) {
            plan.isKey = plan.slots.map { _ in false }
            plan.found = plan.slots.map { _ in false }
            plan.inherited = plan.slots.indices.filter {
                if case .relation = plan.slots[$0].source { true } else { false }
            }
            plan.makeRows = { [unowned plan] in [try row(plan, table)] }
        }
        return plans
    }

    private func relate(_ plan: RecordPlan, _ table: StoreTable, _ plans: [RecordPlan], _ tables: [StoreTable]) {
        for key in table.foreignKeys {
            guard let index = tables.firstIndex(where: { $0.name.lowercased() == key.table.lowercased() }),
                let slot = plan.slots.firstIndex(where: { $0.column.name.lowercased() == key.column.lowercased() })
            else { continue }
            // The number of a record leads to its primary key, and to no other column.
            guard tables[index].primaryKey.map({ $0.lowercased() }) == [key.target.lowercased()] else { continue }
            let target = plans[index]
            target.numbersRecords = true
            plan.slots.append(
                .init(column: plan.slots[slot].column, source: .relation(plan.relations.count), isMarkup: false))
            plan.relations.append(
                .init(column: key.column, target: target, slot: slot, recordSlot: plan.slots.count - 1))
        }
    }

    private func row(_ plan: RecordPlan, _ table: StoreTable) throws -> RecordPlan.Row {
        var shape = RowShape(table: table.name, columns: table.columns.map(\.name))
        var values = table.columns.enumerated().map { slot, column in
            RecordPlan.Value.slot(slot, ValueConverter(ValueType(declaredType: column.type)))
        }
        for relation in plan.relations {
            shape.references.append(
                .init(column: relation.column, table: relation.target.mapping.table, lookups: [], missing: .null))
            values.append(.slot(relation.recordSlot, ValueConverter(.integer)))
        }
        if plan.numbersRecords {
            shape.numbersRecords = true
            values.append(.number)
        }
        let writer = try context.writer(
            for: shape,
            rule: MergeRule(
                sync: request.sync, scope: request.scope, window: request.window.map { MirrorWindow(column: $0) }))
        return RecordPlan.Row(writer: writer, values: values, condition: nil)
    }
}
