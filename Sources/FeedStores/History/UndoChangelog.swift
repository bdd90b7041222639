package import FeedModel

/// The changelog, the counts and the plan of an undo: those of a commit of the source that changes the same rows.
///
/// Rows are named by the declared key. A row that gets a mark of soft deletion counts as deleted, one whose
/// mark is cleared as inserted; a row that is marked before and after is left out.
package struct UndoChangelog: Sendable {
    /// The columns that mark rows as deleted, by their tables' names in lower case.
    package var marks: [String: String]
    /// The declared keys, by their tables' names in lower case.
    package var keys: [String: [String]]
    /// The keys of tables that only other sources declare.
    package var others: DeclaredKeys

    package init(
        marks: [String: String] = [:], keys: [String: [String]] = [:], others: DeclaredKeys = DeclaredKeys()
    ) {
        self.marks = marks
        self.keys = keys
        self.others = others
    }

    /// Returns the column that marks a table's rows as deleted; nil if the source deletes them.
    package func mark(of table: String) -> String? { marks.isEmpty ? nil : marks[table.lowercased()] }

    /// Returns the columns by which the changelog names a table's rows.
    ///
    /// - Parameters:
    ///   - known: the columns that the history of the table keeps.
    ///   - source: the source whose runs are undone.
    ///   - merged: the columns by which the merge distinguishes the rows.
    package func key(of table: String, changedBy source: String, among known: [String], merged: [String]) -> [String] {
        guard let declared = keys[table.lowercased()] ?? others.columns(of: table, changedBy: source) else {
            return merged
        }
        let key = declared.compactMap { name in
            known.first { $0 == name } ?? known.first { $0.lowercased() == name.lowercased() }
        }
        return key.count == declared.count && !key.isEmpty ? key : merged
    }

    /// Returns a planned change as the changelog would report it; nil where it would not.
    package func reported(_ change: PlannedChange) -> PlannedChange? {
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
