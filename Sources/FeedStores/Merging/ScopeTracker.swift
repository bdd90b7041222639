package import FeedModel
import FeedStaging

/// Rows that a stack writes outside the scopes by which requests lay claim to them.
package struct ScopeTracker {
    private let merge: MergeContext

    package init(merge: MergeContext) { self.merge = merge }

    /// Returns the tables and scopes of staged rows that are partly outside of the scope. A feed may fill the scope's
    /// columns itself, and an unchanged row may be in another scope.
    package func outOfScopeRows() throws -> Set<MirroredRows> {
        try merge.stack.parts.reduce(into: merge.state.outOfScopeRows) { found, part in
            let table = part.table
            guard part.counts.rows > 0, !table.scope.isEmpty, try hasRowsOutside(table) else { return }
            found.insert(MirroredRows(table: table.table.name, scope: table.scope))
        }
    }

    private func hasRowsOutside(_ staged: StagingTable) throws -> Bool {
        let table = try merge.table(of: staged)
        let supplied = "\(merge.dialect.staged(staged)) s"
        if try hasRows(supplied, "s", outside: staged.suppliedScope, of: table) { return true }
        // Rows whose values in these columns the stack does not change.
        let kept = staged.scope.sorted { $0.key < $1.key }.map { (column: $0.key, value: $0.value) }.filter {
            !staged.updates($0.column)
        }
        guard case .key = staged.identity else { return false }
        return try hasRows(merge.dialect.stagedAndStored(staged, table), "m", outside: kept, of: table)
    }

    /// Returns true if some of the rows have another value than the scope in one of its columns, as the column itself
    /// compares.
    private func hasRows(
        _ rows: String, _ alias: String, outside scope: [(column: String, value: String)], of table: StoredTable
    ) throws -> Bool {
        guard !scope.isEmpty else { return false }
        let conditions = try scope.map { entry in
            let column = try table.needed(entry.column)
            return merge.dialect.isOutside("\(alias).\(column.sql)", column, scope: entry.value)
        }
        return try merge.driver.isTrue(
            "SELECT EXISTS (SELECT 1 FROM \(rows) WHERE \(conditions.joined(separator: " OR ")))")
    }

    /// Notes the scopes that rows are about to leave.
    func noteScopeExits(of difference: Difference) throws {
        guard let claims = merge.claims else { return }
        let staged = difference.table
        let written = Set(staged.valueColumns.map { $0.lowercased() })
        let scopes = try claims.columns(writtenBy: staged, of: merge.stack)
        guard !scopes.isEmpty else { return }
        let comparison = try claims.comparison(of: staged.table.name, Set(scopes.joined()))
        for names in scopes {
            let columns = names.compactMap(difference.stored.column)
            // A scope that names a column which the table has no more is no row's.
            guard columns.count == names.count else { continue }
            let changes = columns.filter { written.contains($0.name.lowercased()) }.map {
                merge.dialect.isDistinct("s.\($0.sql)", from: "m.\($0.sql)")
            }
            try merge.driver.forEachRow(
                of: """
                    SELECT DISTINCT \(columns.list("m")) FROM \(difference.storedRows(merge.dialect))
                    WHERE NOT d.is_new AND (\(changes.joinedConditions("OR")))
                    """
            ) { row in
                let values = try columns.enumerated().map { index, column in
                    (comparison.columns[names[index]] ?? .exact).value(
                        stored: try merge.dialect.value(of: column, row, index))
                }
                claims.note(names, values, of: staged.table.name)
                return true
            }
        }
    }
}

extension ColumnComparison {
    /// Returns the compared form of a stored value; nil for NULL, which is equal to nothing.
    func value(stored value: StoredValue) -> ComparedValue? {
        switch value {
        case .null: nil
        case .integer(let number): affinity == .real ? .real(Double(number)) : .integer(number)
        case .real(let number): .real(number)
        case .text(let text): self.value(text)
        case .blob(let data): .blob(Array(data))
        }
    }
}
