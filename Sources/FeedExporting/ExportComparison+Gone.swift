import FeedDeclarations
import FeedStaging

/// Rows that an export leaves out because they, or the rows around them, are marked as gone.
extension ExportComparison {
    /// Returns the SQL conditions under which the rows around a row, which is known by an alias, are not gone.
    ///
    /// - Parameter tables: the tables in lower case that the way has led through.
    func conditionsOnParents(
        of mapping: TableMapping, _ alias: String, through tables: Set<String> = []
    ) throws -> [String] {
        let tables = tables.union([mapping.table.lowercased()])
        return try mapping.columns.compactMap { column in
            guard case .parent(let name) = column.origin, !tables.contains(name.lowercased()),
                let parent = self.mapping.tables.first(where: { $0.table.lowercased() == name.lowercased() }),
                let key = try primaryKey(of: parent.table)
            else { return nil }
            let outer = "\(alias)p"
            let own = request.deletionMark(of: parent).map { ["\(outer).\($0.sqlIdentifier) IS NULL"] } ?? []
            let conditions = try own + conditionsOnParents(of: parent, outer, through: tables)
            guard !conditions.isEmpty else { return nil }
            let value = "\(alias).\(column.name.sqlIdentifier)"
            return """
                (\(value) IS NULL OR \(value) IN (
                    SELECT \(outer).\(key.sqlIdentifier) FROM store.\(parent.table.sqlIdentifier) \(outer)\(conditions.whereClause)))
                """
        }
    }
}
