import FeedModel
import FeedStaging

extension StoredTable {
    /// Returns the mistakes of a declaration from which the table differs.
    func differences(from definition: TableSchema) -> [Mistake] {
        if let problem = problem(ofWriting: definition.columns.count) { return [Mistake(definition.place, problem)] }
        // Messages have the table's own name.
        var definition = definition
        definition.name = name
        var mistakes = definition.columns.compactMap { column -> Mistake? in
            guard let type = column.type, let found = self.column(column.name) else { return nil }
            if found.isGenerated { return definition.mistake(ofGenerated: column.name) }
            guard hasOtherType(than: column) else { return nil }
            return definition.mistake(
                of: column.name, type: type.isEmpty ? "decimal" : type, found: found.type)
        }
        if let gone = definition.gone, let found = column(gone), found.isNotNull {
            mistakes.append(definition.mistake(ofMark: gone))
        }
        mistakes += definition.scope.filter { column($0) == nil }.map { column in
            definition.mistake(
                ofScope: column, addition: "ALTER TABLE \(name.sqlIdentifier) ADD COLUMN \(column.sqlIdentifier)")
        }
        if !definition.key.isEmpty, collations(ofKey: definition.key) == nil {
            let columns = definition.key.map(\.sqlIdentifier).joined(separator: ", ")
            mistakes.append(
                definition.mistake(
                    ofKeyBeside: primaryKey,
                    index: "CREATE UNIQUE INDEX \(name)_key ON \(name.sqlIdentifier) (\(columns))"))
        }
        return mistakes
    }
}
