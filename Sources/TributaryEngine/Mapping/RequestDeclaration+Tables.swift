package import FeedStore

/// What `check` asks of a request's mapping.
extension RequestDeclaration {
    /// Makes the mapped tables, and tries the references between them.
    package func prepare(_ store: MainStore, file: String) throws {
        guard case .mapping(let mapping) = content else { return }
        try store.prepareTables(mapping.definitions(file: file))
        try store.checkReferences(mapping.references(file: file))
    }

    /// Where the tables of an existing store are not as mapped.
    package func differences(from store: MainStore, file: String) throws -> [String] {
        guard case .mapping(let mapping) = content else { return [] }
        return try store.differences(from: mapping.definitions(file: file))
    }
}

extension RequestMapping {
    /// What each reference needs of the store.
    func references(file: String) -> [ReferenceDefinition] {
        tables.flatMap { table in
            table.columns.compactMap { column -> ReferenceDefinition? in
                guard let reference = column.reference else { return nil }
                return ReferenceDefinition(
                    table: reference.table, column: reference.column, set: reference.set.map(\.column),
                    needsUniqueColumn: reference.missing == .create,
                    place: "\(file): \(table.place).columns.\(column.name).references")
            }
        }
    }
}
