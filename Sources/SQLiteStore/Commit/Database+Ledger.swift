import FeedModel
import FeedStaging
import FeedStores
import Foundation
import GRDB

/// What a transaction writes to Tributary's own tables.
extension Database {
    /// Writes everything that a run leaves apart from its rows.
    ///
    /// - Parameter changes: the ids of its part of the journal; nil where it has changed nothing.
    func write(_ commit: Commit, changes: ClosedRange<Int64>? = nil) throws {
        let report = commit.report
        try report.write(self, changes: changes)
        let run = lastInsertedRowID
        if commit.keepsHistory {
            try execute(cached: "UPDATE main.tributary_run SET history = 1 WHERE id = ?", [run])
        }
        try use(commit.acceptance, of: report.source, run: run)
        try commit.state.write(self)
        if let host = commit.busyHost {
            // Servers choose the names of origins, so expired entries are deleted.
            try execute(
                cached: "DELETE FROM main.tributary_host WHERE not_before <= ?",
                [StoreDate.text(host.notBefore - host.wait)])
            try execute(
                cached: "INSERT OR REPLACE INTO main.tributary_host VALUES (?, ?, ?)",
                [host.origin, StoreDate.text(host.notBefore), host.wait])
        }
        // Validators stand for rows: delete those of requests that the stack no longer has.
        for key in commit.forgottenKeys {
            try execute(
                cached: "DELETE FROM main.tributary_request WHERE source = ? AND key = ?", [report.source, key])
        }
        for var request in commit.requests {
            if let asked = commit.revalidated[request.key], try !has(asked, of: report.source) {
                // Another commit has deleted or moved rows in the meantime, perhaps of this request.
                request.validators = Validators()
                request.digest = nil
            }
            try request.write(self, source: report.source)
        }
        let changes = report.counts.inserted + report.counts.updated + report.counts.deleted
        try forgetRuns(before: commit.forgetBefore, changes: max(50_000, 2 * changes))
    }

    /// Returns true if a request's validators and scope are still those that were known when it was sent.
    private func has(_ state: RequestState, of source: String) throws -> Bool {
        let statement = try cachedStatement(
            sql: """
                SELECT EXISTS (SELECT 1 FROM main.tributary_request WHERE source = ? AND key = ?
                AND etag IS ? AND last_modified IS ? AND digest IS ? AND scope = ?)
                """)
        return try Bool.fetchOne(
            statement,
            arguments: [
                source, state.key, state.validators.etag, state.validators.lastModified, state.digest,
                try state.scopeText(),
            ]) == true
    }

    /// Lets requests claim everything in their tables from now on.
    func widenScopes(of requests: Set<RequestID>) throws {
        for request in requests {
            try execute(
                cached: "UPDATE main.tributary_request SET scope = '{}' WHERE source = ? AND key = ?",
                [request.source, request.key])
        }
    }

    /// Removes the validators of requests whose rows may have been deleted, so that their next run is unconditional.
    func forgetValidators(of requests: Set<RequestID>) throws {
        for request in requests {
            try execute(
                cached: """
                    UPDATE main.tributary_request SET etag = NULL, last_modified = NULL, digest = NULL
                    WHERE source = ? AND key = ?
                    """, [request.source, request.key])
        }
    }

    /// Returns the id of the journal's last row; 0 where there is none.
    func lastChange() throws -> Int64 {
        try Int64.fetchOne(cachedStatement(sql: "SELECT max(id) FROM main.tributary_change")) ?? 0
    }

    /// Deletes old runs but for the last of them, and their part of the journal, a bounded number each time. Who has read up to
    /// the last one knows so that nothing after it is forgotten. The last of all stays, as SQLite would give its id a second
    /// time, and who has read so far would take what comes for what was.
    private func forgetRuns(before date: Date, changes: Int) throws {
        try execute(
            cached: """
                DELETE FROM main.tributary_run WHERE id IN (
                    SELECT id FROM main.tributary_run WHERE started_at < (
                        SELECT max(started_at) FROM main.tributary_run WHERE started_at < ?)
                    ORDER BY started_at LIMIT 100)
                AND id < (SELECT max(id) FROM main.tributary_run)
                """, [StoreDate.text(date)])
        let oldest = try cachedStatement(
            sql: """
                SELECT c.id, (SELECT min(id) FROM main.tributary_run) AS first FROM
                    (SELECT id, run FROM main.tributary_change ORDER BY id LIMIT 1) c WHERE c.run < first
                """)
        guard let row = try Row.fetchOne(oldest) else { return }
        let start: Int64 = row[0]
        let first: Int64 = row[1]
        try execute(
            cached: """
                DELETE FROM main.tributary_change
                WHERE id < ? AND run < ? AND id < (SELECT max(id) FROM main.tributary_change)
                """, [start + Int64(changes), first])
    }
}
