import FeedConfiguration
import FeedModel
import FeedParsing
import FeedStaging
import FeedStores

/// Checks the columns by which rows expire, as `check` does.
extension RequestDeclaration {
    /// Returns a mistake for each column that does not exist or has no dates.
    ///
    /// - Parameters:
    ///   - tables: the existing tables that the request writes.
    ///   - store: returns the store that has a table.
    func expiryMistakes(
        of tables: [String], in store: (String) throws -> any MainStore
    ) throws -> [Mistake] {
        let scope = scope.keys.sorted()
        var lacking: [(table: String, column: String)] = []
        var hasColumn = false
        var mistakes: [Mistake] = []
        for table in tables {
            guard let expiry = expiry(of: table) else { continue }
            guard let column = try store(table).dateColumn(expiry.column, of: table, within: scope) else {
                lacking.append((table, expiry.column))
                continue
            }
            hasColumn = true
            guard !column.holdsDates else { continue }
            mistakes.append(
                Mistake(
                    place,
                    "the column '\(expiry.column)' of table '\(table)', which 'expire' of request '\(key)' names, is "
                        + "\(column.type), which holds no dates", help: "name one with dates"))
        }
        // If there are several tables, only those with the column have rows that expire.
        let isOfTable = { (table: String) in self.expiry(of: table) != self.expiry }
        for (table, column) in lacking where isOfTable(table) || !hasColumn {
            mistakes.append(
                Mistake(
                    place,
                    "table '\(table)', which request '\(key)' writes, has no column '\(column)', which 'expire' names"))
        }
        return mistakes
    }

    /// Returns notes on tables without an index for expiring rows, and on soft-deleted rows that refer to deleted ones.
    func expiryNotes(on store: any MainStore, parsers: ParserRegistry) throws -> [Mistake] {
        guard retainsRows else { return [] }
        var tables = parsers.tables(of: content)
        if case .mapping(let mapping) = content { tables = mapping.tables.map(\.table) }
        let unindexed = try Set(tables).sorted().compactMap { table -> Mistake? in
            guard let expiry = expiry(of: table),
                let column = try store.dateColumn(expiry.column, of: table, within: scope.keys.sorted()),
                !column.isIndexed
            else { return nil }
            let columns = (scope.keys.sorted() + [expiry.column]).map(\.sqlIdentifier).joined(separator: ", ")
            let index = "\(table)_\(expiry.column)".sqlIdentifier
            return Mistake(
                place, "table '\(table)' has no index by which its rows expire, so each commit reads all of it",
                help: "run CREATE INDEX \(index) ON \(table.sqlIdentifier) (\(columns))")
        }
        return try unindexed + referringNotes(on: store)
    }

    private func referringNotes(on store: any MainStore) throws -> [Mistake] {
        guard case .mapping(let mapping) = content else { return [] }
        return try mapping.tables.filter { deletionMark(of: $0) != nil }.flatMap { table in
            try table.columns.compactMap { column -> Mistake? in
                guard case .parent(let parent) = column.origin, deletesRows(of: parent),
                    deletionMark(of: parent) == nil,
                    try store.refers(column.name, of: table.table, to: parent)
                else { return nil }
                return Mistake(
                    table.place,
                    "rows of '\(table.table)' that are gone still refer to rows of '\(parent)', which are deleted, and the "
                        + "foreign key may refuse that", help: "give '\(parent)' a 'deleted', too")
            }
        }
    }
}
