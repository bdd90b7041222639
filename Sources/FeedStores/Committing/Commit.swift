package import FeedModel
package import Foundation

/// Everything that one transaction writes apart from the staged rows.
package struct Commit: Sendable {
    package var report: RunReport
    package var requests: [RequestState]
    /// The requests whose rows are unchanged, by key, with the state that was known when they were sent.
    package var revalidated: [String: RequestState] = [:]
    /// The requests of which only the changed documents were read, by key, with the state that was known when they were sent.
    package var continued: [String: RequestState] = [:]
    /// The documents of the listings that were read, by the requests' keys; nil where they are not kept.
    package var listings: [String: ListingRow?] = [:]
    /// True if some of the requests are known to claim other rows than before. The transaction finds out in any case.
    package var changesClaims = false
    /// True if the run needs its claim no longer once this commit is made. A claim that is a row of the store, a lease, is
    /// given up within the transaction.
    package var endsClaim = false
    /// True if the source was stale until this run (`fresh_within`). The run then has a row of its own, which tells hooks.
    package var endsStaleness = false
    /// The source's state after this commit.
    package var state: SourceState
    /// The rows that the changed requests mirror, even where they staged none of them.
    package var mirrors: [MirroredRows]
    /// The limits on the changes of each scope; empty if the commit may make any changes.
    package var limits: [ScopedRows: ChangeLimits] = [:]
    /// The changes of the source's accepted blocked run, if the commit is of its documents.
    package var accepted: [ExceededLimit]?
    /// The digest of the changes that the user accepted; nil without one.
    package var shown: ChangeDigest?
    /// What becomes of the source's permission to exceed the limits.
    package var acceptance = Acceptance.Use.none
    /// The keys by which the changelog names rows of tables that the stack has no rows of.
    package var keys = DeclaredKeys()
    /// The requests of all sources that look up rows of a table, by its name in lower case.
    package var lookups: [String: [RowLookup]] = [:]
    /// True if the commit keeps before-images in the tables' histories.
    package var keepsHistory = false
    /// True if it also shows the versions of rows in views.
    package var showsVersions = false
    /// What becomes of rows that the feed no longer has.
    package var retention = Retention()
    /// The keys of requests that the stack no longer has.
    package var forgottenKeys: [String]
    /// Called inside the transaction with mirrored rows, the requests of other sources that have written some of them,
    /// and the way in which their table compares values. Throws where those sources mirror them, too.
    package typealias MirrorCheck = @Sendable (MirroredRows, [RequestID], TableComparison) throws -> Void
    package var checkMirrors: MirrorCheck?
    /// An origin that asked for a pause, the end of that pause, and its length in seconds.
    package var busyHost: (origin: String, notBefore: Date, wait: Double)?

    package init(
        report: RunReport, requests: [RequestState], state: SourceState,
        mirrors: [MirroredRows] = [], forgottenKeys: [String] = []
    ) {
        self.report = report
        self.requests = requests
        self.state = state
        self.mirrors = mirrors
        self.forgottenKeys = forgottenKeys
    }

    /// The requests with changed rows in this commit.
    package var changedRequests: Set<RequestID> {
        Set(
            requests.filter { revalidated[$0.key] == nil }.map { RequestID(source: report.source, key: $0.key) })
    }

    /// Returns the requests whose documents may give other rows after changes of tables.
    package func requests(lookingUp changes: [String: MergeCounts]) -> Set<RequestID> {
        let found = changes.flatMap { table, counts in
            (lookups[table.lowercased()] ?? []).filter { $0.isConcerned(by: counts) }
        }
        return Set(found.map(\.request))
    }

    /// Lets requests with rows outside their scope claim everything in their tables.
    package mutating func widenScopes(of rows: Set<MirroredRows>) {
        for row in rows {
            for index in requests.indices where requests[index].scope == row.scope {
                let tables = requests[index].tables.map { $0.lowercased() }
                if tables.contains(row.table.lowercased()) { requests[index].scope = [:] }
            }
        }
    }
}

/// The keys that sources declare. The changelog names a row by the key that the source which changes it declares.
package struct DeclaredKeys: Sendable {
    /// The key by which a source tells the rows of a table apart.
    package struct Key: Sendable, Equatable {
        package var source: String
        /// Empty for the table's primary key.
        package var columns: [String]

        package init(source: String, columns: [String]) {
            self.source = source
            self.columns = columns
        }
    }

    private let find: @Sendable (_ table: String) -> [Key]

    /// - Parameter find: returns the keys of a table in the order of the declarations.
    package init(_ find: @escaping @Sendable (_ table: String) -> [Key] = { _ in [] }) { self.find = find }

    package func keys(of table: String) -> [Key] { find(table) }

    /// Returns the columns by which a source names rows of a table: those that it declares, or else those that another
    /// source declares; nil if none does.
    package func columns(of table: String, changedBy source: String) -> [String]? {
        let keys = find(table)
        return (keys.first { $0.source == source } ?? keys.first)?.columns
    }
}

/// The identity of a run that a transaction records.
package struct RecordedRun: Sendable {
    package var id: Int64
    /// The transaction's id (`xid8`); empty if transactions have none.
    package var transaction: String
    package var source: String
    package var startedAt: Date
    /// The first id that a row of its part of the changelog can have; nil for a run that merges nothing.
    package var firstChange: Int64?
    /// The last id of the changelog before the run.
    package var lastChange: Int64 { (firstChange ?? 1) - 1 }

    package init(id: Int64, transaction: String, source: String, startedAt: Date, firstChange: Int64? = nil) {
        self.id = id
        self.transaction = transaction
        self.source = source
        self.startedAt = startedAt
        self.firstChange = firstChange
    }
}
