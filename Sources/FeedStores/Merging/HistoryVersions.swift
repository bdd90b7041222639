import FeedModel
import FeedStaging

/// The ``FeedModel/VersionsView`` of a table: each version of each row, with the time for which it held.
///
/// An entry of the history ends the version that it keeps. The entry before it began that version, as the last entry of a
/// present row began that row. A condition on the key finds both by an index.
struct HistoryVersions {
    /// The beginning of the mark of each such view.
    private static let ownMark = "versions of \(HistoryTable.prefix)"

    let shape: HistoryShape

    private var view: HistoryName {
        HistoryName(schema: shape.history.schema, name: VersionsView.name(of: shape.stored.name))
    }
    private var isThere: Bool { shape.versions?.contains(Self.ownMark) == true }

    /// Makes the view for the columns and the key that the table has now, unless the store has it.
    ///
    /// - Throws: ``StoreError`` if something else has its name.
    func prepare(_ catalog: any HistoryCatalog) throws {
        if shape.versions != nil, !isThere {
            throw StoreError(.history, VersionsView.isTaken(of: shape.stored.name))
        }
        guard shape.hasIdentity else { return }
        let query = ended(catalog) + " UNION ALL " + present(catalog)
        let named = Self.ownMark + "T as " + ownNames.joined(separator: ", ")
        let mark = "\(named): \(Fingerprint.hexadecimal(query))"
        guard shape.versions?.contains(mark) != true else { return }
        // A view is not replaced by one whose columns have other names.
        if shape.versions?.contains(named + ":") == false { try drop(catalog) }
        try catalog.show(view, query, as: mark)
    }

    /// Drops the view before its history.
    func drop(_ catalog: any HistoryCatalog) throws {
        if isThere { try catalog.drop(view: view) }
    }

    /// The names of the view's own columns, as SQL has them: others where the table has a column of that name.
    private var ownNames: [String] {
        let taken = Set(shape.columns.map { $0.lowercased() })
        return VersionsView.ownColumns.map { taken.contains($0) ? "tributary_\($0)" : $0 }
    }

    private func ended(_ catalog: any HistoryCatalog) -> String {
        let id = HistoryTable.id
        let isSame = shape.groupColumns.map { "p.\($0) = h.\($0)" } + ["p.\(id) < h.\(id)"]
        let history = catalog.nameInView(shape.history.name, sql: shape.sql)
        return versions("\(history) h", history, until: "h.\(HistoryTable.time)", isSame.joinedConditions("AND")) {
            "h.\($0.sqlIdentifier)"
        } + " WHERE h.\(HistoryTable.operation) <> 'insert'"
    }

    private func present(_ catalog: any HistoryCatalog) -> String {
        let stored = catalog.nameInView(shape.stored.name, sql: shape.stored.sql)
        let history = catalog.nameInView(shape.history.name, sql: shape.sql)
        return versions("\(stored) m", history, until: "NULL", shape.isRow("m", "p")) { shape.value($0, in: "m") }
    }

    /// Returns a query for versions.
    ///
    /// - Parameters:
    ///   - history: the name of the history.
    ///   - isEarlier: a condition that an entry `p` is of the same row, and before the end of the version.
    ///   - value: returns an expression for a column.
    private func versions(
        _ rows: String, _ history: String, until end: String, _ isEarlier: String, _ value: (String) -> String
    ) -> String {
        let values = shape.columns.map { "\(value($0)) AS \($0.sqlIdentifier)" }.joined(separator: ", ")
        let own = zip(["f.\(HistoryTable.time)", end, "f.\(HistoryTable.run)"], ownNames).map { "\($0) AS \($1)" }
        // A row that another program has inserted after its deletion has no known beginning.
        return """
            SELECT \(own.joined(separator: ", ")), \(values)
            FROM \(rows) LEFT JOIN \(history) f ON f.\(HistoryTable.operation) <> 'delete' AND f.\(HistoryTable.id) = (
                SELECT max(p.\(HistoryTable.id)) FROM \(history) p WHERE \(isEarlier))
            """
    }
}
