package import FeedModel
package import FeedStores
import Locking

/// The claims of all requests, in memory. Every commit that mirrors asks for them, so its time must not grow with the
/// number of sources: only what other commits have changed is read again. In a file, whose claims have no version
/// numbers, every claim is read again once another process has written anything.
package final class RequestIndex: Sendable {
    private struct State {
        var claims = RequestClaims()
        /// The version of the claims that were read; nil before the first look.
        var version: Claims.Version?
        /// How often all claims have been read.
        var loads = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// How often all claims have been read.
    package var loads: Int { state.withLock(\.loads) }

    /// Reads the changes. Called by a commit once it holds its tables' locks, and before it changes any claim.
    ///
    /// The lock is not held during queries. Changes that another thread has read are not read again, and if two
    /// threads read the same, the later version stays.
    ///
    /// - Throws: the errors of the session; the index is then unchanged.
    package func renew(_ ledger: Ledger) throws {
        // Looked at before the store is asked, which can then only have the same version or a later one.
        let known = state.withLock(\.version)
        // While a commit that changes claims has not ended, no later version can be seen.
        let current = try ledger.claims.version()
        if known == current { return }
        let changes = try ledger.claims.changes(from: known, to: current)
        let claims = try changes ?? ledger.claims.all()
        state.withLock { state in
            if let version = state.version, version != known, version.serverStart == current.serverStart,
                version.number >= current.number
            {
                // Another thread has read the same meanwhile, or more.
                return
            }
            if changes == nil {
                state.claims = RequestClaims()
                state.loads += 1
            }
            for (request, claim) in claims { state.claims.set(claim, of: request) }
            state.version = current
        }
    }

    /// Returns true if the claims are known as they were in a version, or in a later one of the same server.
    package func knows(version: Int64, serverStart: String?) -> Bool {
        state.withLock(\.version).map { $0.serverStart == serverStart && $0.number >= version } ?? false
    }

    /// Returns true if the known claims of a source's requests match these states.
    package func claims(are requests: [RequestState], of source: String) -> Bool {
        state.withLock { state in
            requests.allSatisfy {
                state.claims.claim(of: RequestID(source: source, key: $0.key))
                    == RequestClaims.Claim(tables: $0.tables, scope: $0.scope)
            }
        }
    }

    /// Applies a commit of this process once it is in the store, where versions count those of others only.
    ///
    /// - Parameter widened: requests that now claim everything in their tables.
    package func apply(_ commit: Commit, widened: Set<RequestID> = []) {
        state.withLock { state in
            if state.version != nil { state.claims.apply(commit, widened: widened) }
        }
    }

    package func scopeColumns(of table: String) -> [Set<String>] {
        state.withLock { $0.claims.scopeColumns(of: table) }
    }

    /// Returns the scopes with values that a comparison does not know.
    func scopes(of table: String, unknownTo comparison: TableComparison) -> [[String: String]] {
        state.withLock { $0.claims.scopes(of: table, unknownTo: comparison) }
    }

    package func requests(
        of table: String, within scope: [String: String], comparedBy comparison: TableComparison
    ) -> [RequestID] {
        state.withLock { $0.claims.requests(of: table, within: scope, comparedBy: comparison) }
    }

    func requests(
        of table: String, exactly values: [String: ComparedValue], comparedBy comparison: TableComparison
    ) -> Set<RequestID> {
        state.withLock { $0.claims.requests(of: table, exactly: values, comparedBy: comparison) }
    }
}

/// The claims of the requests that have written each table, for one commit.
package struct CommitClaims: ClaimIndex {
    private let index: RequestIndex
    /// The tables of the store, inside the commit's transaction.
    private let tables: any ClaimedTables
    private let ledger: Ledger?

    /// - Parameter ledger: renews the index with each question; nil if the commit has renewed it.
    package init(_ index: RequestIndex, _ tables: any ClaimedTables, renewedFrom ledger: Ledger? = nil) {
        self.index = index
        self.tables = tables
        self.ledger = ledger
    }

    private func renewed() throws -> RequestIndex {
        if let ledger { try index.renew(ledger) }
        return index
    }

    package func scopeColumns(of table: String) throws -> [Set<String>] { try renewed().scopeColumns(of: table) }

    package func comparison(
        of table: String, _ columns: Set<String>, scopes: [[String: String]]
    ) throws -> TableComparison {
        let columns = index.scopeColumns(of: table).reduce(into: Set(columns.map { $0.lowercased() })) {
            $0.formUnion($1)
        }
        let comparison = try tables.comparison(of: table, columns: columns, scopes: scopes)
        let unknown = index.scopes(of: table, unknownTo: comparison)
        return unknown.isEmpty
            ? comparison : try tables.comparison(of: table, columns: columns, scopes: scopes + unknown)
    }

    package func requests(of table: String, within scope: [String: String]) throws -> [RequestID] {
        try renewed().requests(of: table, within: scope, comparedBy: try comparison(of: table, [], scopes: [scope]))
    }

    package func requests(losing row: ScopeExit) throws -> Set<RequestID> {
        try renewed().requests(
            of: row.table, exactly: row.values,
            comparedBy: try comparison(of: row.table, Set(row.values.keys), scopes: []))
    }

    package func hasRows(_ table: String) throws -> Bool { try tables.hasRows(table) }
}

/// The tables that requests claim, as a transaction sees them.
package protocol ClaimedTables {
    /// Returns how a table compares columns, whose names are in lower case, and the columns and values of scopes.
    func comparison(of table: String, columns: Set<String>, scopes: [[String: String]]) throws -> TableComparison
    func hasRows(_ table: String) throws -> Bool
}
