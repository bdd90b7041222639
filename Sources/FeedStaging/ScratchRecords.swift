import GRDB

extension Database {
    /// Does the work of ``prepareForMerge(_:counts:onReplaced:)`` for every table of a stack.
    ///
    /// - Parameters:
    ///   - skipped: the numbers of left out records, by the names of their tables.
    ///   - check: called before each; throws where the work is to end.
    package func keepLast(
        of parts: [(table: StagingTable, counts: StagedCounts)], without skipped: [String: [Int64]],
        check: () throws -> Void = {}
    ) throws {
        try withoutActuallyEscaping(check) { check in
            let schema = parts.first?.table.schema ?? "main"
            try ScratchRecords(db: self, schema: schema, check: check).keepLast(of: parts, without: skipped)
        }
    }
}

/// Staged rows in SQLite: in a scratch database, or in memory.
private struct ScratchRecords: StagedRecordStore {
    let db: Database
    /// The schema of the staging tables.
    let schema: String
    let check: () throws -> Void

    func rows(of table: StagingTable) -> String { table.qualifiedName }

    func makeTable(_ name: String, columns: [String]) throws -> String {
        let table = "\(schema).tributary_\(name)"
        let names = columns.joined(separator: ", ")
        let definition = columns.map { $0 + " INTEGER NOT NULL" }.joined(separator: ", ")
        try db.execute(
            sql: "CREATE TABLE IF NOT EXISTS \(table) (\(definition), PRIMARY KEY (\(names))); DELETE FROM \(table)")
        return table
    }

    func run(_ sql: String) throws -> Int {
        try check()
        try db.execute(sql: sql)
        return db.changesCount
    }

    func isTrue(_ sql: String) throws -> Bool { try Bool.fetchOne(db, sql: sql) == true }

    func remove(from table: StagingTable, where condition: String) throws -> Int {
        try run("DELETE FROM \(rows(of: table)) WHERE \(condition)")
    }

    func keepLast(of table: StagingTable, _ counts: StagedCounts, onReplaced: () throws -> Void) throws {
        try check()
        try db.prepareForMerge(table, counts: counts, onReplaced: onReplaced)
    }
}
