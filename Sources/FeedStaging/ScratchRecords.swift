import FeedModel
import GRDB

extension Database {
    /// Does the work of ``prepareForMerge(_:counts:onReplaced:)`` for every table of a stack.
    ///
    /// - Parameters:
    ///   - skipped: the numbers of left out records, by the names of their tables.
    ///   - check: called before each; throws where the work is to end.
    package func keepLast(
        of parts: [(table: StagingTable, counts: StagedCounts)], without skipped: [String: [Int64]],
        check: @escaping () throws -> Void = {}
    ) throws {
        let records = ScratchRecords(db: self, schema: parts.first?.table.schema ?? "main", check: check)
        try records.keepLast(of: parts, without: skipped)
    }
}

/// Staged rows in SQLite: in a scratch database, or in memory. Those that do not count are deleted, or noted as gone.
final class ScratchRecords: StagedRecordStore {
    let db: Database
    /// The schema of the staging tables.
    let schema: String
    /// True if rows that do not count stay in their staging tables, and the views of ``LiveRows`` leave them out.
    let keepsGone: Bool
    let check: () throws -> Void
    /// With ``keepsGone``, the tables of replaced records and of those that replace them, by the names of the store's
    /// tables.
    private var replacements: [String: [String]] = [:]

    init(db: Database, schema: String, keepsGone: Bool = false, check: @escaping () throws -> Void) {
        self.db = db
        self.schema = schema
        self.keepsGone = keepsGone
        self.check = check
    }

    func rows(of table: StagingTable) -> String { table.qualifiedName }

    func makeTable(_ name: String, columns: [String]) throws -> String {
        let table = "\(schema).tributary_\(name)"
        let names = columns.joined(separator: ", ")
        let definition = columns.map { $0 + " INTEGER NOT NULL" }.joined(separator: ", ")
        try db.execute(
            sql: "CREATE TABLE IF NOT EXISTS \(table) (\(definition), PRIMARY KEY (\(names))); DELETE FROM \(table)")
        return table
    }

    @discardableResult
    func run(_ sql: String) throws -> Int {
        try check()
        try db.execute(sql: sql)
        return db.changesCount
    }

    func isTrue(_ sql: String) throws -> Bool { try Bool.fetchOne(db, sql: sql) == true }

    func remove(from table: StagingTable, where condition: String) throws -> Int {
        let rows = rows(of: table)
        return try run(
            keepsGone
                ? "INSERT INTO \(table.goneName) SELECT \(StagingTable.row) FROM \(rows) WHERE \(condition)"
                : "DELETE FROM \(rows) WHERE \(condition)")
    }

    func keepLast(of table: StagingTable, _ counts: StagedCounts, onReplaced: () throws -> Void) throws {
        if keepsGone { return try noteReplaced(of: table, counts, onReplaced: onReplaced) }
        try check()
        try db.prepareForMerge(table, counts: counts, onReplaced: onReplaced)
    }

    /// Notes all but the last of several rows with one key as gone.
    private func noteReplaced(of table: StagingTable, _ counts: StagedCounts, onReplaced: () throws -> Void) throws {
        let key = table.isIdentifiedByReference ? identity(of: table) : table.identityColumns.map(\.sqlIdentifier)
        guard !key.isEmpty, counts.rows > 1 else { return }
        let columns = key.joined(separator: ", ")
        let rows = rows(of: table)
        guard try isTrue("SELECT EXISTS (SELECT 1 FROM \(rows) GROUP BY \(columns) HAVING count(*) > 1)") else {
            return
        }
        try onReplaced()
        let row = StagingTable.row
        let record = table.numbersRecords ? ", \(StagingTable.record) AS record" : ""
        let last = "SELECT \(row)\(record), \(table.kept(row, of: columns)) AS last FROM \(rows)"
        if table.numbersRecords {
            let same = try makeTable("\(table.name)_same", columns: ["record", "kept"])
            try run(
                """
                INSERT INTO \(same) SELECT l.record, k.\(StagingTable.record)
                FROM (\(last)) l JOIN \(rows) k ON k.\(row) = l.last WHERE l.\(row) <> l.last
                """)
            replacements[table.table.name, default: []].append(same)
        }
        counts.rows -= try run("INSERT INTO \(table.goneName) SELECT \(row) FROM (\(last)) WHERE \(row) <> last")
    }

    /// Returns the values that identify rows by the records to which they refer: those that count.
    private func identity(of table: StagingTable) -> [String] {
        let records = Dictionary(
            table.references.filter(\.isByRecord).map { ($0.lookups[0].staged, $0.target.name) }
        ) { first, _ in first }
        return table.unresolvedIdentity.map { name in
            (records[name].flatMap { replacements[$0] } ?? []).reduce(name.sqlIdentifier) { value, same in
                "coalesce((SELECT kept FROM \(same) r WHERE r.record = \(name.sqlIdentifier)), \(value))"
            }
        }
    }
}
