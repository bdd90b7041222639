import FeedModel
package import FeedStaging

/// Which rows go where, and in which order.
package struct TransferPlan {
    /// A table of one store and the table of the other that takes its rows.
    package struct Part {
        package var from: StoredTable
        package var to: StoredTable
        /// The columns in both, in the same order.
        package var columns: [(from: StoredTable.Column, to: StoredTable.Column)]
    }

    package private(set) var parts: [Part] = []

    /// - Parameters:
    ///   - from: the tables with their columns that move. Those that come from other columns do not.
    ///   - to: the other store's tables, by the names of the first.
    /// - Throws: ``StoreError`` naming each table and each column that the other store does not have, and tables that
    ///   cannot be filled one after another.
    package init(_ from: [StoredTable], to: [String: StoredTable]) throws {
        var problems: [String] = []
        var parts: [Part] = []
        for table in from {
            guard let target = to[table.name] else {
                problems.append(
                    "the new store has no table '\(table.name)'; declare it, create it in the schema, or drop it from the old "
                        + "store")
                continue
            }
            var columns: [(from: StoredTable.Column, to: StoredTable.Column)] = []
            for column in table.columns where !column.isComputed {
                guard let other = target.column(column.name), !other.isComputed else {
                    problems.append(
                        "the new store's table '\(target.name)' has no column '\(column.name)' that can be written; add it in "
                            + "the schema, or drop it from the old store")
                    continue
                }
                columns.append((column, other))
            }
            parts.append(Part(from: table, to: target, columns: columns))
        }
        guard problems.isEmpty else { throw StoreError(.schema, problems.joined(separator: "\n")) }
        self.parts = try Self.ordered(parts)
    }

    /// Returns the tables in the order of their references. A table that refers to itself is filled by one statement,
    /// which checks the references at its end.
    private static func ordered(_ parts: [Part]) throws -> [Part] {
        var rest = parts.sorted { $0.to.name < $1.to.name }
        var ordered: [Part] = []
        while !rest.isEmpty {
            let ids = Set(rest.map(\.to.id))
            let ready = rest.filter { part in
                let parents = part.to.foreignKeys.filter { !$0.isDeferrable }.map(\.parent)
                return ids.subtracting([part.to.id]).isDisjoint(with: parents)
            }
            guard !ready.isEmpty else {
                let tables = rest.map { "'\($0.to.name)'" }.joined(separator: ", ")
                throw StoreError(
                    .schema,
                    "the tables \(tables) refer to each other by foreign keys that cannot be deferred, so that none can be "
                        + "filled first; declare one of them DEFERRABLE in the new store's schema")
            }
            ordered += ready
            let filled = Set(ready.map { $0.to.name })
            rest.removeAll { filled.contains($0.to.name) }
        }
        return ordered
    }
}
