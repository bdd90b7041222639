import FeedModel
import GRDB

/// The staged rows that a commit would merge now: without rows that others replace, and without the records within
/// those.
///
/// Each staging table has a view with only these rows. The others are noted, and stay where they are: they may count
/// again once a request is sent again and its rows are forgotten.
struct LiveRows {
    /// The staging tables, under the names of their views.
    var stagings: [StagingTable]
    /// Every table of the store.
    var tables: [StoredTable]
    /// The tables that have a view of their staged rows, in lower case: true where the view makes numbers of texts.
    var views: [String: Bool] = [:]
}

extension WorkerContext {
    /// Returns the rows that count among those staged so far. The result is kept until further rows are staged.
    func liveRows() throws -> LiveRows {
        try flush()
        if let live { return live }
        let tables = try store.tables()
        let rows = try inScratch { db in
            try dropStagedViews(db)
            return try makeLiveViews(of: stagings, db)
        }
        let found = LiveRows(stagings: rows, tables: tables)
        live = found
        return found
    }

    /// Returns the rows of a request that would count if it were the only one of its stack.
    func liveRows(ofRequest index: Int) throws -> [StagingTable] {
        let own = stagings.filter { $0.isUsed(by: index) }
        let names = Set(own.map(\.table.table.name))
        guard stagings.contains(where: { names.contains($0.table.table.name) && $0.isUsed(byOtherThan: index) }) else {
            // The other requests have no rows of its tables.
            return zip(stagings, try liveRows().stagings).filter { $0.0.isUsed(by: index) }.map(\.1)
        }
        try flush()
        return try inScratch { try makeLiveViews(of: own, ofRequest: index, $0) }
    }

    private func makeLiveViews(
        of stagings: [Staging], ofRequest index: Int? = nil, _ db: Database
    ) throws -> [StagingTable] {
        let parts = try stagings.map { staging in
            let counts = StagedCounts()
            (counts.rows, counts.nulls) = (staging.counts.rows, staging.counts.nulls)
            return (table: try db.makeLiveView(of: staging.table, ofRequest: index), counts: counts)
        }
        try numberKeys(of: Array(zip(stagings.map(\.table), parts.map(\.table))), db)
        let records = ScratchRecords(db: db, schema: "main", keepsGone: true, check: scratch.checkInterruption)
        try records.keepLast(of: parts, without: allSkippedNumbers)
        return parts.map(\.table)
    }

    /// Asks the store which keys are equal, where the bytes of their values do not decide.
    private func numberKeys(of parts: [(StagingTable, live: StagingTable)], _ db: Database) throws {
        var open = parts.filter { $0.live.keyColumns == [StagingTable.keyNumber] }
        var last: Int64 = 0
        while let first = open.first {
            let group = open.filter { $0.0.name == first.0.name || $0.0.mayShareKeys(with: first.0) }
            open.removeAll { entry in group.contains { $0.0.name == entry.0.name } }
            let statements = try group.map { try db.makeStatement(sql: $0.1.keyNumbersInsertionSQL) }
            let before = last
            try db.inTransaction(.deferred) {
                try store.numberKeys(of: group.map(\.0), inScratch: scratch.path) { table, row, key in
                    last = max(last, before + key)
                    try statements[table].execute(arguments: [row, before + key])
                }
                return .commit
            }
        }
    }

    /// Drops the views that are named like the store's tables: the merge makes tables that may have such names.
    func dropStagedViews(_ db: Database) throws {
        for name in viewNames { try db.execute(sql: "DROP VIEW IF EXISTS main.\(name.sqlIdentifier)") }
        viewNames = []
    }
}

extension StagingTable {
    /// The column that numbers the keys of rows, where their bytes do not decide which are equal.
    static let keyNumber = "tributary_key"

    /// True if the store decides which rows have equal keys.
    var isComparedByStore: Bool {
        guard case .key(let key, _) = identity else { return false }
        return key.contains { table.column($0)?.bytesDecide == false }
    }

    fileprivate func liveName(ofRequest index: Int?) -> String { name + (index == nil ? "_live" : "_own") }
    /// The table of the rows that the view named like this table leaves out.
    var goneName: String { name + "_gone" }
    fileprivate var keyNumbersName: String { name + "_keys" }
    fileprivate var keyNumbersInsertionSQL: String { "INSERT INTO \(keyNumbersName) VALUES (?, ?)" }
}

extension Database {
    /// Makes the view of a staging table's rows that count, with all rows until some are noted as gone.
    ///
    /// - Parameter index: the request whose rows the view has; nil for those of all requests.
    /// - Returns: the staging table under the view's name.
    fileprivate func makeLiveView(of table: StagingTable, ofRequest index: Int?) throws -> StagingTable {
        var live = table
        live.name = table.liveName(ofRequest: index)
        var isOwn = ""
        if let index {
            let rows = Staging.rows(ofRequest: index)
            isOwn = " AND s.\(StagingTable.row) BETWEEN \(rows.lowerBound) AND \(rows.upperBound)"
            try execute(sql: "DROP VIEW IF EXISTS \(live.name)")
        }
        if table.isComparedByStore, !table.isIdentifiedByReference {
            live.identity = .key([StagingTable.keyNumber], collations: ["BINARY"])
        } else {
            try execute(sql: table.indexSQL(isUnique: false))
        }
        try execute(
            sql: """
                CREATE TABLE IF NOT EXISTS \(live.goneName) (row INTEGER PRIMARY KEY);
                CREATE TABLE IF NOT EXISTS \(live.keyNumbersName) (row INTEGER PRIMARY KEY, key INTEGER NOT NULL);
                CREATE INDEX IF NOT EXISTS \(live.keyNumbersName)_key ON \(live.keyNumbersName) (key);
                CREATE VIEW IF NOT EXISTS \(live.name) AS SELECT s.*, k.key AS \(StagingTable.keyNumber)
                FROM \(table.name) s LEFT JOIN \(live.keyNumbersName) k ON k.row = s.\(StagingTable.row)
                WHERE s.\(StagingTable.row) NOT IN (SELECT row FROM \(live.goneName))\(isOwn);
                DELETE FROM \(live.goneName); DELETE FROM \(live.keyNumbersName)
                """)
        return live
    }
}
