import FeedModel

/// The changelog, the counts and the plan of an undo: those of a commit of the source that changes the same rows.
///
/// Rows are named by the declared key. A row that gets a mark of soft deletion counts as deleted, one whose
/// mark is cleared as inserted; a row that is marked before and after is left out.
extension Undo {
    /// Returns the column that marks a table's rows as deleted; nil if the source deletes them.
    func mark(of table: String) -> String? { commit.retention.deletionMark(of: table) }

    /// Returns the columns by which the changelog names a table's rows.
    ///
    /// - Parameters:
    ///   - known: the columns that the history of the table keeps.
    ///   - merged: the columns by which the merge distinguishes the rows.
    func changelogKey(of table: String, among known: [String], merged: [String]) -> [String] {
        let own = commit.keys.keys(of: table).first { $0.source == source && !$0.columns.isEmpty }
        guard let declared = own?.columns ?? commit.keys.columns(of: table, changedBy: source) else { return merged }
        let key = declared.compactMap { name in
            known.first { $0 == name } ?? known.first { $0.lowercased() == name.lowercased() }
        }
        return key.count == declared.count && !key.isEmpty ? key : merged
    }

    /// Returns a planned change as the changelog would report it; nil where it would not.
    func reported(_ change: PlannedChange) -> PlannedChange? {
        guard let mark = mark(of: change.table)?.lowercased() else { return change }
        func isMarked(_ row: PlannedChange.Values) -> Bool {
            row.contains { name, value in
                guard name.lowercased() == mark else { return false }
                if case .null = value { return false }
                return true
            }
        }
        var reported = change
        guard case .update(let old) = change.operation else { return isMarked(change.row) ? nil : change }
        switch (isMarked(old), isMarked(change.row)) {
        case (false, false): break
        case (true, true): return nil
        case (true, false): reported.operation = .insert
        case (false, true):
            reported.operation = .delete
            reported.row = old
        }
        return reported
    }
}
