import FeedModel
import FeedStaging
import FeedStores
import GRDB

/// Rows that a stack writes outside the scopes by which requests lay claim to them.
extension Merge {
    /// Returns the table and scope of staged rows of which not all are in the scope. A feed may fill the scope's
    /// columns itself, and a row that is kept as it is may be in another scope.
    func strays(_ claims: ClaimWatch) throws -> Set<MirroredRows> {
        try stack.parts.reduce(into: progress.strays) { strays, part in
            let table = part.table
            guard part.counts.rows > 0, !table.scope.isEmpty else { return }
            let columns = try claims.comparison(of: table.table.name, table.scope.keys).columns
            if try has(part, outside: table.suppliedScope, columns) {
                strays.insert(MirroredRows(table: table.table.name, scope: table.scope))
            }
        }
    }

    private func has(
        _ part: StagedStack.Part, outside supplied: [(column: String, value: String)],
        _ columns: [String: ColumnComparison]
    ) throws -> Bool {
        let table = part.table
        func isOutside(_ alias: String, _ entry: (column: String, value: String)) -> String {
            let collation = columns[entry.column.lowercased()]?.collation ?? "BINARY"
            return "\(alias).\(entry.column.sqlIdentifier) IS NOT ? COLLATE \(collation.sqlIdentifier)"
        }
        if !supplied.isEmpty {
            let conditions = supplied.map { isOutside("s", $0) }.joined(separator: " OR ")
            let statement = try db.cachedStatement(
                sql: "SELECT EXISTS (SELECT 1 FROM \(table.qualifiedName) s WHERE \(conditions))")
            let values = StatementArguments(supplied.map(\.value))
            if try Bool.fetchOne(statement, arguments: values) == true { return true }
        }
        // Rows whose values in these columns the stack does not change.
        let kept = table.scope.sorted { $0.key < $1.key }.map { (column: $0.key, value: $0.value) }.filter {
            table.sync == .insert || table.sync == .append || table.insertOnly.contains($0.column.lowercased())
        }
        guard case .key = table.identity, !kept.isEmpty else { return false }
        let conditions = kept.map { isOutside("m", $0) }.joined(separator: " OR ")
        let statement = try db.cachedStatement(
            sql: """
                SELECT EXISTS (
                    SELECT 1 FROM \(table.qualifiedName) s CROSS JOIN \(table.qualifiedTable) m ON \(table.matches("m", "s"))
                    WHERE \(conditions))
                """)
        return try Bool.fetchOne(statement, arguments: StatementArguments(kept.map(\.value))) == true
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
        let stored =
            "\(table.qualifiedTable) m ON "
            + (table.table.rowID.map { "m.\($0) = d.target" } ?? table.matches("m", "s"))
        for names in scopes {
            let changes = names.filter(written.contains).map(\.sqlIdentifier).map { "s.\($0) IS NOT m.\($0)" }
            let found = try Row.fetchCursor(
                db.cachedStatement(
                    sql: """
                        SELECT DISTINCT \(names.map { "m." + $0.sqlIdentifier }.joined(separator: ", "))
                        FROM \(rows) CROSS JOIN \(stored)
                        WHERE NOT d.is_new AND (\(changes.joined(separator: " OR ")))
                        """))
            while let row = try found.next() {
                let values = zip(names, row.databaseValues).map { name, value in
                    (comparison.columns[name] ?? .exact).value(stored: value)
                }
                claims.note(names, values, of: table.table.name)
            }
        }
    }
}
