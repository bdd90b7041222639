package import FeedModel
import FeedStaging

/// The rows that changes in the changelog are of, as they were before and after.
extension RowChanges {
    /// The changes that one statement asks for.
    private static let changesAtOnce = 100

    /// Returns changes of a run with their rows before and after, as far as these are known.
    ///
    /// - Parameters:
    ///   - keys: the columns by which the run's source tells rows apart, by their tables' names in lower case; the
    ///     primary key where there are none.
    ///   - later: finds the rows that have changed since.
    package func withImages(
        _ changes: [ChangelogEntry], of run: Int64, keys: [String: [String]], later: LaterChanges
    ) throws -> [ChangelogEntry] {
        guard let first = changes.map(\.id).min(), let last = changes.map(\.id).max() else { return [] }
        try catalog.fixTexts()
        var changes = changes
        for index in changes.indices { changes[index].images = RowImages() }
        var unknown: [(rows: ChangedRows, indices: [Int])] = []
        for (name, indices) in Dictionary(grouping: changes.indices, by: { changes[$0].table }).sorted(by: {
            $0.key < $1.key
        }) {
            guard let stored = try catalog.table(name) else { continue }
            let rows = try ChangedRows(
                stored, key: keys[name.lowercased()] ?? stored.primaryKey, of: run, in: self)
            for start in stride(from: 0, to: indices.count, by: Self.changesAtOnce) {
                let some = Array(indices[start..<min(start + Self.changesAtOnce, indices.count)])
                let found = try rows.readHistory(of: &changes, some)
                unknown.append((rows, some.filter { !found.contains($0) && changes[$0].operation != "delete" }))
            }
        }
        guard unknown.contains(where: { !$0.indices.isEmpty }) else { return changes }
        // A row that has changed since is not the one that the run left.
        let changedSince = try later.changed(among: changes, ids: first...last, ledger.changelog)
        for (rows, indices) in unknown {
            let lasting = indices.filter { !changedSince.contains(changes[$0].id) }
            try rows.readTable(of: &changes, lasting)
        }
        return changes
    }
}

/// Rows of one table, found by the keys by which the changelog names them.
private struct ChangedRows {
    private let stored: StoredTable
    private let key: [String]
    private let changes: RowChanges
    /// The table's history, and the run as its entries have it; nil where the run kept none.
    private let history: (shape: HistoryShape, run: RowChange)?
    private let types: [String: String]

    init(_ stored: StoredTable, key: [String], of run: Int64, in changes: RowChanges) throws {
        self.stored = stored
        self.key = key.compactMap { stored.column($0)?.name }
        self.changes = changes
        types = Dictionary(stored.columns.map { ($0.name.lowercased(), $0.type) }) { first, _ in first }
        guard let shape = try HistoryShape(changes.catalog, of: stored), shape.has(key),
            let run = try changes.ledger.runs.withHistory(ChangeQuery(run: run), or: [shape.sql]).first
        else {
            history = nil
            return
        }
        history = (shape, run)
    }

    /// Gives changes the rows that the history keeps.
    ///
    /// - Returns: the indices of those of which it keeps anything.
    func readHistory(of changed: inout [ChangelogEntry], _ indices: [Int]) throws -> Set<Int> {
        for index in indices { changed[index].images?.types = types }
        guard let (shape, run) = history,
            let isOne = isOne(of: indices.map { changed[$0].key }, in: "h", rowID: HistoryTable.row)
        else { return [] }
        // Without an index on the key, the run is the way to the entries.
        let isFound = Set(key.map { $0.lowercased() }) == Set(shape.identity.map { $0.lowercased() })
        let entries = try changes.entries(
            run, shape, where: "\(isFound ? "+" : "")h.\(HistoryTable.run) = \(bind: run.run) AND (\(isOne))",
            name: name("h", rowID: HistoryTable.row))
        let byName = Dictionary(grouping: entries, by: \.name)
        var found: Set<Int> = []
        for index in indices {
            let operation = changed[index].operation
            // A mark of a soft deletion is an update in the history.
            let entry = byName[changed[index].key]?.first { entry in
                switch operation {
                case "insert": entry.after != nil
                case "delete": entry.change.old != nil
                default: entry.after != nil && entry.change.old != nil
                }
            }
            guard let entry else { continue }
            found.insert(index)
            if operation != "insert" { changed[index].images?.before = entry.change.old.map(Self.values) }
            if operation != "delete" { changed[index].images?.after = entry.change.new.map(Self.values) }
        }
        return found
    }

    /// Gives changes the rows after them, as they are now.
    func readTable(of changed: inout [ChangelogEntry], _ indices: [Int]) throws {
        guard let isOne = isOne(of: indices.map { changed[$0].key }, in: "m", rowID: stored.rowID) else { return }
        let columns = stored.columns.filter { !$0.isComputed }
        var rows: [StoredValue: [RowImages.Value]] = [:]
        let name = name("m", rowID: stored.rowID)
        try changes.session.forEachRow(
            of: ("SELECT \(name), \(columns.list("m")) FROM \(stored.sql) m WHERE \(isOne)" as SQLText).once
        ) { row in
            rows[row.storedValue(0)] = try columns.enumerated().map { index, column in
                RowImages.Value(column.name, try changes.catalog.dialect.value(of: column, row, index + 1))
            }
            return true
        }
        for index in indices {
            let row = rows[changed[index].key]
            changed[index].images?.after = row
        }
    }

    private static func values(_ values: RowChange.Values) -> [RowImages.Value] {
        values.map { RowImages.Value($0.column, $0.value) }
    }

    /// Returns an expression for the key by which the changelog names a row.
    private func name(_ alias: String, rowID: String?) -> String {
        key.isEmpty
            ? rowID.map { "\(alias).\($0)" } ?? "NULL"
            : changes.catalog.dialect.changelogKey(key, of: stored, alias)
    }

    /// Returns a condition that a row is one of those with these keys; nil where none can be found by its key.
    private func isOne(of keys: [StoredValue], in alias: String, rowID: String?) -> SQLText? {
        let names = key.isEmpty ? [rowID].compactMap(\.self) : key.map(\.sqlIdentifier)
        let conditions = keys.compactMap { key -> SQLText? in
            var values = [key]
            if names.count > 1 {
                guard case .text(let text) = key, let parts: [StoredValue] = JSONText.decode(text) else { return nil }
                values = parts
            }
            guard !names.isEmpty, values.count == names.count, !values.contains(.null) else { return nil }
            return zip(names, values).enumerated().map { index, part in
                let column = self.key.isEmpty ? nil : stored.column(self.key[index])
                return "\(alias).\(part.0) = \(bind: changes.catalog.dialect.bound(part.1, for: column))" as SQLText
            }.joined(separator: " AND ")
        }
        return conditions.isEmpty ? nil : conditions.joined(separator: " OR ").once
    }
}
