import FeedModel
import FeedStaging
import FeedStores

/// The differences between a mapping's declaration and the existing table.
extension StoredTable {
    /// Returns the mistakes of a declaration from which the table differs.
    func differences(from definition: TableSchema) -> [Mistake] {
        if let problem = problem(ofWriting: definition.columns.count) { return [Mistake(definition.place, problem)] }
        // Messages have the table's own name.
        var definition = definition
        definition.name = name
        var mistakes = definition.columns.compactMap { column -> Mistake? in
            guard let type = ColumnType(column), let found = self.column(column.name) else { return nil }
            if found.isGenerated { return definition.mistake(ofGenerated: column.name) }
            guard hasOtherType(than: column) else { return nil }
            return definition.mistake(of: column.name, type: type.sql, found: found.type)
        }
        if let gone = definition.gone.flatMap(column), gone.isNotNull {
            mistakes.append(definition.mistake(ofMark: gone.name))
        }
        mistakes += definition.scope.filter { column($0) == nil }.map { column in
            definition.mistake(
                ofScope: column, addition: "ALTER TABLE \(shortSQL) ADD COLUMN \(column.sqlIdentifier) text")
        }
        if !definition.key.isEmpty, collations(ofKey: definition.key) == nil {
            let columns = definition.key.map { column($0)?.name ?? $0 }
            mistakes.append(
                definition.mistake(
                    ofKeyBeside: primaryKey, index: "CREATE UNIQUE INDEX ON \(shortSQL) (\(columns.sqlList))"))
        }
        return mistakes
    }

    /// Returns true if a column of the table does not keep the values that a declaration gives it.
    func hasOtherType(than column: TableSchema.Column) -> Bool {
        guard let type = ColumnType(column), column.isDeclared, let found = self.column(column.name), !found.isGenerated
        else { return false }
        // A number that is not declared as one may be a constant `true`.
        return !type.fits(found) || column.word == ColumnType.integer.rawValue && found.category == "B"
    }

    /// Returns the reason for which a mapping's reference cannot be stored; nil if it can.
    func mistake(in reference: ReferenceDefinition) -> Mistake? {
        reference.mistake(
            in: name, columns.map(\.name), hasColumn: { column($0) != nil },
            isKeyOneColumn: primaryKey.count == 1,
            isUnique: { collations(ofKey: [reference.column]) != nil },
            index: {
                let column = column(reference.column)?.sql ?? reference.column.sqlIdentifier
                return "CREATE UNIQUE INDEX ON \(shortSQL) (\(column))"
            })
    }
}
