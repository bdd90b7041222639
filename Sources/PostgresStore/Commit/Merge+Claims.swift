import FeedModel
import FeedStaging
import FeedStores
import PostgresClient

/// Rows that a stack writes outside the scopes by which requests lay claim to them.
extension Merge {
    /// Returns the table and scope of staged rows of which not all are in the scope. A feed may fill the scope's
    /// columns itself, and a row that is kept as it is may be in another scope.
    func strays() throws -> Set<MirroredRows> {
        try stack.parts.reduce(into: progress.strays) { strays, part in
            let table = part.table
            guard part.counts.rows > 0, !table.scope.isEmpty, try hasRowsOutside(table) else { return }
            strays.insert(MirroredRows(table: table.table.name, scope: table.scope))
        }
    }

    private func hasRowsOutside(_ table: StagingTable) throws -> Bool {
        if try hasRows("\(table.staged) s", outside: table.suppliedScope, "s", of: table) { return true }
        // Rows whose values in these columns the stack does not change.
        let kept = table.scope.sorted { $0.key < $1.key }.map { (column: $0.key, value: $0.value) }.filter {
            table.sync == .insert || table.sync == .append || table.insertOnly.contains($0.column.lowercased())
        }
        guard case .key = table.identity else { return false }
        return try hasRows(stagedAndStored(table), outside: kept, "m", of: table)
    }

    /// Returns true if some of the rows have another value than the scope in one of its columns, as the column itself
    /// compares.
    private func hasRows(
        _ rows: String, outside scope: [(column: String, value: String)], _ alias: String, of table: StagingTable
    ) throws -> Bool {
        guard !scope.isEmpty else { return false }
        let details = try details(of: table.table.name)
        let conditions = try scope.enumerated().map { index, entry in
            "\(alias).\(try details.needed(entry.column).name.sqlIdentifier) IS DISTINCT FROM $\(index + 1)"
        }
        return try connection.execute(
            "SELECT EXISTS (SELECT 1 FROM \(rows) WHERE \(conditions.joined(separator: " OR ")))",
            scope.map { .text($0.value) })[0].bool(0) == true
    }

    /// Notes the scopes that rows are about to leave.
    ///
    /// - Parameter rows: the rows of the difference as `d`, with the staged rows as `s`.
    func noteMovedRows(_ table: StagingTable, from rows: String) throws {
        guard let claims else { return }
        let written = Set(table.valueColumns.map { $0.lowercased() })
        let scopes = try claims.columns(writtenBy: table, of: stack)
        guard !scopes.isEmpty else { return }
        let comparison = try claims.comparison(of: table.table.name, scopes.flatMap(\.self))
        for names in scopes {
            let columns = names.compactMap(table.table.column)
            // A scope that names a column which the table has no more is no row's.
            guard columns.count == names.count else { continue }
            let changes = columns.filter { written.contains($0.name.lowercased()) }.map {
                "s.\($0.name.sqlIdentifier) IS DISTINCT FROM m.\($0.name.sqlIdentifier)"
            }
            let values = columns.map { "m.\($0.name.sqlIdentifier)::text" }.joined(separator: ", ")
            try connection.forEachRow(
                of: """
                    SELECT DISTINCT \(values) FROM \(rows) JOIN \(try stored(table)) m ON \(table.matches("m", "s"))
                    WHERE NOT d.is_new AND (\(changes.joined(separator: " OR ")))
                    """
            ) { row in
                let values = names.enumerated().map { index, name in
                    row.string(index).map { (comparison.columns[name] ?? .exact).value($0) }
                }
                claims.note(names, values, of: table.table.name)
                return .next
            }
        }
    }
}
