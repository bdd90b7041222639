import FeedStores
import FeedModel
package import FeedStaging
import StoreSQL

/// Unique values that pass from row to row: swapped, shifted, or held by a row that is about to be deleted.
///
/// The database checks each row as it writes it, not the result of the whole statement. If a statement fails for that
/// reason, the rows in its way give up their values and it is run again. For a moment they get values that no other row
/// has, in the columns that are unique: first the rows whose deletion was postponed, then the rows to be updated whose
/// unique columns change. If neither helps, the postponed deletions are carried out at once.
///
/// Foreign keys follow these rows as usual, including children with ON UPDATE CASCADE. Triggers see two updates of such
/// a row. Where no statement fails, none of this is done.
package struct UniqueConflicts {
    private enum Strategy: CaseIterable {
        case vacatePostponed
        /// NULL conflicts with no value, and suits every type.
        case vacateAsNull
        case vacateAsToken
        case deletePostponed
    }

    private let merge: MergeContext
    private let staged: StagingTable
    private let table: any StoredTable
    /// The rows of the table that are yet to be updated.
    private let remaining: ArraySlice<Difference>

    package init(
        _ merge: MergeContext, in staged: StagingTable, of table: any StoredTable,
        remaining: ArraySlice<Difference> = []
    ) {
        self.merge = merge
        self.staged = staged
        self.table = table
        self.remaining = remaining
    }

    /// Runs one statement, with room for the values that it writes.
    ///
    /// - Parameter first: true if rows give up their values at once, because the table's own conflict clause would
    ///   replace or skip rows without an error.
    package func resolving<Value>(first: Bool = false, _ write: () throws -> Value) throws -> Value {
        guard try merge.driver.mayConflict(staged, table) else { return try write() }
        if first, try !apply(.vacateAsNull) { _ = try apply(.vacateAsToken) }
        do {
            return try merge.driver.atomically(write)
        } catch  where merge.driver.isUniqueViolation(error) {
            let violation = error
            for strategy in Strategy.allCases where try apply(strategy) {
                do {
                    return try merge.driver.atomically(write)
                } catch  where merge.driver.isUniqueViolation(error) {
                    continue
                }
            }
            guard let hint = merge.retention.hint(on: staged.table) else { throw violation }
            throw merge.driver.uniqueViolation(violation, in: staged, hint: hint)
        }
    }

    /// - Returns: true if anything has changed.
    private func apply(_ strategy: Strategy) throws -> Bool {
        switch strategy {
        case .vacatePostponed: try vacatePostponed()
        case .deletePostponed: try PostponedDeletions(merge: merge).delete(from: table.id)
        case .vacateAsNull: try vacateRemaining(asNull: true)
        case .vacateAsToken: try vacateRemaining(asNull: false)
        }
    }

    /// Gives rows to delete values that no other row has, except in the columns by which others refer to them.
    private func vacatePostponed() throws -> Bool {
        // A row that is located by its place would not be found again, and rows that are to be marked as deleted keep
        // their values.
        guard let postponed = merge.state.postponed[table.id], !table.isLocatedByPlace,
            try merge.deletionMark(of: table) == nil
        else { return false }
        let kept = Set((table.children.flatMap(\.targets) + table.primaryKey).map { $0.lowercased() })
        let unique = try merge.driver.uniqueColumns(of: table).subtracting(kept)
        let columns = table.storedColumns.filter { unique.contains($0.name.lowercased()) && !$0.isGenerated }
        guard !columns.isEmpty else { return false }
        return try VacatedValues(merge: merge).give(columns, of: table, .postponed(postponed), asNull: true)
    }

    /// Gives rows to update values that no other row has, if their unique columns change.
    private func vacateRemaining(asNull: Bool) throws -> Bool {
        guard !remaining.isEmpty else { return false }
        let unique = try merge.driver.uniqueColumns(of: table)
        // Parts of one table may write different columns.
        return try remaining.filter { $0.updated > 0 }.reduce(false) { isVacated, difference in
            let columns = try difference.table.valueColumns.filter { unique.contains($0.lowercased()) }
                .map(table.needed)
            guard !columns.isEmpty else { return isVacated }
            let rows = Vacating.updated(difference)
            return try VacatedValues(merge: merge).give(columns, of: table, rows, asNull: asNull) || isVacated
        }
    }
}

/// Rows that give up unique values for a moment.
package enum Vacating {
    /// Rows to delete.
    case postponed(RowList)
    /// Rows to update.
    case updated(Difference)

    /// Returns a FROM clause for those of the rows, `m`, some of whose columns change, and their order.
    package func rows(
        changing columns: [any StoredColumn], _ dialect: any SQLDialect
    ) -> (rows: String, order: String) {
        switch self {
        case .postponed(let list): return (list.stored(dialect), "g.id")
        case .updated(let difference):
            let differs = columns.map { $0.differs("s.\($0.sql)", from: "m.\($0.sql)", exactly: false) }
            return (
                "\(difference.storedRows(dialect)) WHERE NOT d.is_new AND (\(differs.joinedConditions("OR")))", "d.id"
            )
        }
    }
}
