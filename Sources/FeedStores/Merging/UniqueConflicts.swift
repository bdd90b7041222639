import FeedModel
package import FeedStaging

/// Unique values that pass from row to row: swapped, shifted, or held by a row that is about to be deleted.
///
/// The database checks each row as it writes it, not the result of the whole statement. If a statement fails for that
/// reason, the rows in its way give up their values for NULL, which conflicts with no value, and it is run again: first the
/// rows whose deletion was postponed, then the rows to be updated whose unique columns change. If neither helps, the
/// postponed deletions are carried out at once.
///
/// Triggers see two updates of such a row. Where no statement fails, none of this is done.
package struct UniqueConflicts {
    private enum Strategy: CaseIterable {
        case vacatePostponed
        case vacateRemaining
        case deletePostponed
    }

    private let merge: MergeContext
    private let staged: StagingTable
    private let table: StoredTable
    /// The rows of the table that are yet to be updated.
    private let remaining: ArraySlice<Difference>

    package init(
        _ merge: MergeContext, in staged: StagingTable, of table: StoredTable,
        remaining: ArraySlice<Difference> = []
    ) {
        self.merge = merge
        self.staged = staged
        self.table = table
        self.remaining = remaining
    }

    /// Runs one statement, with room for the values that it writes.
    package func resolving<Value>(_ write: () throws -> Value) throws -> Value {
        guard try merge.driver.mayConflict(staged, table) else { return try write() }
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
            guard let hint = try merge.retention.hint(on: staged.table) ?? hint() else { throw violation }
            throw merge.driver.uniqueViolation(violation, in: staged, hint: hint)
        }
    }

    /// - Returns: true if anything has changed.
    private func apply(_ strategy: Strategy) throws -> Bool {
        switch strategy {
        case .vacatePostponed: try vacatePostponed()
        case .vacateRemaining:
            try remaining.reduce(false) { try vacate(changingColumns(of: $1), .updated($1)) || $0 }
        case .deletePostponed:
            try !deletionTakesStagedRows() && PostponedDeletions(merge: merge).delete(from: table.id)
        }
    }

    // MARK: - Rows to delete

    private func vacatePostponed() throws -> Bool {
        // A row that is located by its place would not be found again, and rows that are to be marked as deleted keep
        // their values.
        guard let postponed = merge.state.postponed[table.id], !table.isLocatedByPlace,
            try merge.deletionMark(of: table) == nil
        else { return false }
        return try vacate(postponedColumns(), .postponed(postponed))
    }

    /// Returns the unique columns of rows to delete, except those by which others refer to the rows.
    private func postponedColumns() throws -> [StoredTable.Column] {
        let kept = Set((table.children.flatMap(\.targets) + table.primaryKey).map { $0.lowercased() })
        let unique = try merge.driver.uniqueColumns(of: table).subtracting(kept)
        return table.columns.filter { unique.contains($0.name.lowercased()) && !$0.isGenerated }
    }

    /// Returns true if rows keep a value only because their column does not take NULL, and their deletion would also delete
    /// rows of tables that are yet to be merged, with the columns that the feed does not fill.
    private func deletionTakesStagedRows() throws -> Bool {
        guard let postponed = merge.state.postponed[table.id], try !postponedColumns().allSatisfy(takesNull) else {
            return false
        }
        let staged = try merge.stack.parts.filter { $0.counts.rows > 0 }.map { try merge.table(of: $0.table).id }
        return try Cascades(merge: merge).rows(deletedWith: postponed).contains { rows in
            try rows.change == .delete && rows.table.id != table.id && staged.contains(rows.table.id)
                && merge.count(rows.name) > 0
        }
    }

    // MARK: - Values

    /// Returns the unique columns that a difference writes. Parts of one table may write different columns.
    private func changingColumns(of difference: Difference) throws -> [StoredTable.Column] {
        guard difference.updated > 0 else { return [] }
        let unique = try merge.driver.uniqueColumns(of: table)
        return try difference.table.valueColumns.filter { unique.contains($0.lowercased()) }.map(table.needed)
    }

    /// Returns true if a row may have NULL in a column for a moment.
    private func takesNull(_ column: StoredTable.Column) -> Bool {
        let name = column.name.lowercased()
        let isRowID = table.rowID != nil && table.locator.contains { $0.column?.lowercased() == name }
        // Children that follow the row must still find it.
        let isFollowed = table.children.contains { key in
            key.onUpdate.changesChildren && key.targets.contains { $0.lowercased() == name }
        }
        return !column.isNotNull && !isRowID && !isFollowed
    }

    /// Writes NULL into columns of rows, as far as the columns take it.
    ///
    /// - Returns: false if nothing has changed.
    private func vacate(_ columns: [StoredTable.Column], _ rows: Vacating) throws -> Bool {
        let columns = columns.filter(takesNull)
        guard !columns.isEmpty else { return false }
        let list = try merge.makeList("vacated", of: table, .update)
        return try merge.driver.vacating {
            let (source, order) = rows.rows(changing: columns, merge.dialect)
            let count = try merge.driver.execute(
                merge.dialect.append(to: list, list.located, table.locators("m"), from: SQLText(source), order: order))
            guard count > 0 else { return false }
            try merge.driver.analyze("\(list.name) (id)")
            let values = columns.map { (column: $0.sql, value: SQLText("NULL")) }
            try merge.driver.execute(merge.dialect.update(list, values, joined: "", isConstant: true))
            return true
        }
    }

    /// Returns the advice on a column whose values cannot pass from row to row; nil without such a column.
    private func hint() throws -> String? {
        var held: StoredTable.Column?
        if merge.state.postponed[table.id] != nil { held = try postponedColumns().first { !takesNull($0) } }
        for difference in remaining where held == nil {
            held = try changingColumns(of: difference).first { column in
                let rows = Vacating.updated(difference).rows(changing: [column], merge.dialect).rows
                return try !takesNull(column) && merge.driver.isTrue("SELECT EXISTS (SELECT 1 FROM \(rows))")
            }
        }
        return held.map {
            "; a value of column '\($0.name)' cannot pass from one row to another in one commit, because the first row "
                + "has to give it up for NULL: let the column take NULL, and let no foreign key follow it (ON UPDATE CASCADE)"
        }
    }
}

/// Rows that give up unique values for a moment.
private enum Vacating {
    /// Rows to delete.
    case postponed(RowList)
    /// Rows to update.
    case updated(Difference)

    /// Returns a FROM clause for those of the rows, `m`, some of whose columns change, and their order.
    func rows(changing columns: [StoredTable.Column], _ dialect: any SQLDialect) -> (rows: String, order: String) {
        switch self {
        case .postponed(let list): return (list.stored(dialect), "g.id")
        case .updated(let difference):
            let differs = columns.map { dialect.differs($0, "s.\($0.sql)", from: "m.\($0.sql)", exactly: false) }
            return (
                "\(difference.storedRows(dialect)) WHERE NOT d.is_new AND (\(differs.joinedConditions("OR")))", "d.id"
            )
        }
    }
}
