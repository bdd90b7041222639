import FeedModel
import FeedStaging
package import FeedStores
import Foundation
import GRDB

extension SQLiteStore {
    package func purge(_ purge: Purge, isTrial: Bool) throws -> PurgeReport {
        var report = PurgeReport(run: purge.commit.report)
        try pool.writeWithoutTransaction { db in
            try recording(purge.commit.report, db) { run, stack in
                let driver = SQLiteMergeDriver(db, memory, stack, run: run.id)
                report = try PurgeTransaction(purge, driver, ledger(db), claims(db)).execute(as: run)
                try checkForeignKeys(db)
                return isTrial ? .rollback : .commit
            }
        }
        return report
    }

    /// Runs a body in a transaction that records a run, beside a scratch database for its work tables.
    ///
    /// - Parameter body: is given the run, and an empty stack that is in the scratch database.
    func recording(
        _ report: RunReport, _ db: Database,
        _ body: (RecordedRun, StagedStack) throws -> Database.TransactionCompletion
    ) throws {
        let path = ScratchDatabase.path(of: report.source, in: workFolder)
        try writing {
            try ScratchDatabase.makeFolder(at: workFolder)
            ScratchDatabase.removeFile(at: path)
            try ScratchDatabase.makeFile(at: path)
            defer { ScratchDatabase.removeFile(at: path) }
            let stack = try attach(StagedStack(path: path, parts: []), mirrors: [], to: db)
            defer { db.detachWorker() }
            memory.beginTransaction()
            try checkFile()
            try db.inTransaction(.immediate) {
                let end = try body(try ledger(db).runs.draw(report), stack)
                try checkFile()
                return end
            }
        }
    }
}

/// The tables of the store, on the writing connection.
struct SQLiteClaimedTables: ClaimedTables {
    let tableInfos: TableInfoCache
    let db: Database

    func comparison(of table: String, columns: Set<String>, scopes: [[String: String]]) throws -> TableComparison {
        try tableInfos.comparison(of: table, columns: columns.union(scopes.columns), in: db)
    }

    // Affinities and collations know no other spellings.
    func folds(_ columns: Set<String>, of table: String) -> Bool { true }

    func hasRows(_ table: String) throws -> Bool { try db.hasRows(table) }
}

extension SQLiteStore {
    /// Returns the claims of the requests in a transaction.
    func claims(_ db: Database) -> CommitClaims {
        CommitClaims(db.ledger, SQLiteClaimedTables(tableInfos: tableInfos, db: db))
    }
}

extension Database {
    /// Returns the id of the changelog's last row; 0 without one.
    func lastChange() throws -> Int64 { try ledger.changelog.lastID() }
}
