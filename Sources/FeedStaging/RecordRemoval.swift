import FeedModel

extension StagedRecordStore {
    /// Keeps the last of several rows with one key, and of the records within such rows those that are within it. The records
    /// within left out ones, and within deleted ones, are removed first.
    ///
    /// - Parameter skipped: the numbers of left out records, by the names of their tables.
    package func keepLast(
        of parts: [(table: StagingTable, counts: StagedCounts)], without skipped: [String: [Int64]]
    ) throws {
        if !skipped.isEmpty {
            var removal = RecordRemoval(store: self, parts: parts, isReplacement: false)
            try removal.note(skipped)
            for part in removal.outermostFirst() { try removal.removeWithin(part.table, part.counts) }
        }
        var removal = RecordRemoval(store: self, parts: parts)
        var deletion = RecordRemoval(store: self, parts: parts, isReplacement: false, name: "deleted")
        for part in removal.outermostFirst() {
            try deletion.removeWithin(part.table, part.counts)
            try deletion.removeWithinDeleted(part.table, part.counts)
            try removal.keepLast(of: part.table, part.counts)
        }
    }
}

/// The removal of the records within replaced, left out or deleted ones.
private struct RecordRemoval<Store: StagedRecordStore> {
    typealias Part = (table: StagingTable, counts: StagedCounts)

    let store: Store
    let parts: [Part]
    /// True if the removed records count as replaced.
    let isReplacement: Bool
    /// The prefix of the names of the tables in ``gone``.
    private let name: String
    /// The tables of the numbers of records that are removed or replaced, by the names of the store's tables.
    private var gone: [String: String] = [:]

    init(store: Store, parts: [Part], isReplacement: Bool = true, name: String = "gone") {
        self.store = store
        self.isReplacement = isReplacement
        self.name = name
        self.parts = parts.filter { $0.counts.rows > 0 }
    }

    /// Returns the parts, with those before whose records are around others' records.
    func outermostFirst() -> [Part] {
        let places = Dictionary(grouping: parts.indices) { parts[$0].table.table.name }
        return parts.ordered { part in part.table.enclosures.flatMap { places[$0.table] ?? [] } }
    }

    /// Notes records that are not staged.
    mutating func note(_ skipped: [String: [Int64]]) throws {
        for (index, (name, numbers)) in skipped.sorted(by: { $0.key < $1.key }).enumerated() {
            let table = try store.makeTable("skipped_\(index)", columns: ["record"])
            for start in stride(from: 0, to: numbers.count, by: 500) {
                let values = numbers[start..<min(start + 500, numbers.count)].map { "(\($0))" }
                try store.run("INSERT INTO \(table) VALUES \(values.joined(separator: ", "))")
            }
            gone[name] = table
        }
    }

    /// Removes the records within the noted ones.
    mutating func removeWithin(_ table: StagingTable, _ counts: StagedCounts) throws {
        try removeFromOthers(table, counts)
        try removeNested(in: table, counts)
    }

    /// Removes the records of a table within those of its records that say that they are deleted. Those within
    /// them in other tables are removed with ``removeWithin(_:_:)``.
    mutating func removeWithinDeleted(_ table: StagingTable, _ counts: StagedCounts) throws {
        guard table.marksDeleted, table.numbersRecords else { return }
        let deleted = "FROM \(store.rows(of: table)) WHERE \(StagingTable.deleted) = 1"
        guard try store.isTrue("SELECT EXISTS (SELECT 1 \(deleted))") else { return }
        try note("SELECT \(StagingTable.record) \(deleted)", of: table)
        try removeNested(in: table, counts)
    }

    /// Removes the records within removed or replaced ones of other tables.
    private mutating func removeFromOthers(_ table: StagingTable, _ counts: StagedCounts) throws {
        for outer in table.enclosures where outer.table != table.table.name {
            if let numbers = gone[outer.table] { try remove(table, counts, within: numbers, outer) }
        }
    }

    mutating func keepLast(of table: StagingTable, _ counts: StagedCounts) throws {
        try removeFromOthers(table, counts)
        guard case .key = table.identity, table.numbersRecords,
            parts.contains(where: { $0.table.enclosures.contains { $0.table == table.table.name } })
        else {
            try removeNested(in: table, counts)
            return try store.keepLast(of: table, counts) {}
        }
        let rows = store.rows(of: table)
        let key = table.unresolvedIdentity.map(\.sqlIdentifier).joined(separator: ", ")
        // A later record of another document goes on with what the earlier one had within it.
        let (function, document) =
            table.keeps == .first
            ? ("min", StagingTable.request(of: StagingTable.row))
            : ("max", "\(StagingTable.record) >> \(StagedRecords.bits)")
        let replaced = """
            SELECT \(StagingTable.record) FROM (
                SELECT \(StagingTable.record), \(StagingTable.row),
                    \(function)(\(StagingTable.row)) OVER (PARTITION BY \(key), \(document)) AS last FROM \(rows)) d
            WHERE \(StagingTable.row) <> last
            """
        var removal = self
        if table.isIdentifiedByReference {
            let hasSeveral = "SELECT EXISTS (SELECT 1 FROM \(rows) GROUP BY \(key), \(document) HAVING count(*) > 1)"
            if try store.isTrue(hasSeveral) { try removal.note(replaced, of: table) }
            try removal.removeNested(in: table, counts)
            try store.keepLast(of: table, counts) {}
        } else {
            try removal.removeNested(in: table, counts)
            try store.keepLast(of: table, counts) {
                try removal.note(replaced, of: table)
                try removal.removeNested(in: table, counts)
            }
        }
        self = removal
    }

    /// Removes the rows whose records are within others.
    private mutating func remove(
        _ table: StagingTable, _ counts: StagedCounts, within numbers: String, _ outer: StagingTable.Enclosure
    ) throws {
        let isWithin =
            "\(outer.column.sqlIdentifier) IN (SELECT record FROM \(numbers))"
            + (outer.mayBeWithin ? " AND \(outer.column.sqlIdentifier) < \(StagingTable.record)" : "")
        let rows = store.rows(of: table)
        if table.numbersRecords {
            try note("SELECT \(StagingTable.record) FROM \(rows) WHERE \(isWithin)", of: table)
        }
        let removed = try store.remove(from: table, where: isWithin)
        counts.rows -= removed
        counts.replaced += table.isLookUp || !isReplacement ? 0 : removed
    }

    /// Notes records that are removed or replaced.
    private mutating func note(_ records: String, of table: StagingTable) throws {
        let stored = table.table.name
        if gone[stored] == nil { gone[stored] = try store.makeTable("\(name)_\(table.name)", columns: ["record"]) }
        guard let numbers = gone[stored] else { return }
        try store.run(
            "INSERT INTO \(numbers) SELECT n.\(StagingTable.record) FROM (\(records)) n WHERE n.\(StagingTable.record) NOT IN (SELECT record FROM \(numbers))"
        )
    }

    /// Removes the records within removed or replaced ones of their own table, at any depth.
    private mutating func removeNested(in table: StagingTable, _ counts: StagedCounts) throws {
        guard table.numbersRecords, let numbers = gone[table.table.name] else { return }
        for outer in table.enclosures where outer.table == table.table.name {
            let rows = store.rows(of: table)
            let column = outer.column.sqlIdentifier
            let edges = try store.makeTable("around_\(table.name)", columns: ["outside", "record"])
            try store.run(
                """
                INSERT INTO \(edges) SELECT \(column), \(StagingTable.record) FROM \(rows)
                WHERE \(column) IS NOT NULL
                """)
            let nested = try store.makeTable("nested_\(table.name)", columns: ["record"])
            try store.run(
                """
                INSERT INTO \(nested) WITH RECURSIVE inside (record) AS (
                    SELECT e.record FROM \(numbers) g JOIN \(edges) e ON e.outside = g.record
                    UNION
                    SELECT e.record FROM inside i JOIN \(edges) e ON e.outside = i.record)
                SELECT record FROM inside
                """)
            let removed = try store.remove(
                from: table, where: "\(StagingTable.record) IN (SELECT record FROM \(nested))")
            counts.rows -= removed
            counts.replaced += isReplacement ? removed : 0
            try note("SELECT record AS \(StagingTable.record) FROM \(nested)", of: table)
        }
    }
}
