package import FeedModel
package import FeedStores
package import StoreSQL

/// The states of requests: `tributary_request`.
package struct RequestStates: LedgerPart {
    let ledger: Ledger

    /// Returns the states of all requests of all sources.
    ///
    /// - Parameter standsForItsRows: as for ``SourceStates/states(of:standsForItsRows:)``.
    package func all(standsForItsRows: (RequestState) throws -> Bool) throws -> [TransferredRequest] {
        let rows = try session.all("SELECT \(columns(OwnTables.requests.reader)) FROM \(dialect.request) r") {
            try read(OwnTables.requests.reader, $0)
        }
        return try rows.map { row in
            var request = TransferredRequest(source: row.source, state: row.state)
            if try !row.state.hasNoVersion && !standsForItsRows(row.state) { request.state.forgetVersion() }
            return request
        }
    }

    /// Returns the tables that requests have written, as the requests name them, with the names of their sources.
    package func writers() throws -> [String: [String]] {
        let all = try session.all("SELECT source, tables FROM \(dialect.request) ORDER BY source") { row in
            (source: row.string(0) ?? "", tables: try row.texts(1))
        }
        return all.reduce(into: [:]) { writers, request in
            for table in request.tables { writers[table, default: []].append(request.source) }
        }
    }

    /// Writes the states of a commit's requests.
    func write(_ commit: Commit) throws {
        let source = commit.report.source
        // Validators stand for rows: delete those of requests that the stack no longer has.
        try delete(commit.forgottenKeys, of: source)
        guard !commit.requests.isEmpty else { return }
        let revalidated = commit.requests.count { commit.revalidated[$0.key] != nil }
        var stored: [String: RequestRow] = [:]
        if revalidated == commit.requests.count {
            // Most commits change nothing. Without a lock they need not wait for a commit that forgets validators: not
            // writing brings none of them back.
            stored = try read(commit, locks: false)
            if states(of: commit, stored).allSatisfy({ stored[$0.state.key]?.state == $0.state }) { return }
        }
        if !dialect.lock("r").isEmpty || revalidated > 0 && stored.isEmpty { stored = try read(commit, locks: true) }
        try write(states(of: commit, stored), of: source)
    }

    /// Writes the states of a source's requests.
    package func write(_ states: [RequestState], of source: String) throws {
        try write(states.map { ($0, nil) }, of: source)
    }

    private func write(_ states: [(state: RequestState, claim: Int64?)], of source: String) throws {
        let claim = try dialect.countsClaims && states.contains { $0.claim == nil } ? ledger.claims.next() : 0
        let rows = states.map { RequestRow(source: source, state: $0.state, claim: $0.claim ?? claim) }
        for start in stride(from: 0, to: rows.count, by: dialect.rowsInStatement) {
            let some = rows[start...].prefix(dialect.rowsInStatement)
            try session.execute(OwnTables.requests.upsert(of: some, dialect.tables))
        }
    }

    /// Returns the states of a commit's requests, with the version of each claim; nil for a claim that the commit makes.
    ///
    /// - Parameter stored: the states before, by key.
    package func states(
        of commit: Commit, _ stored: [String: RequestRow]
    ) -> [(state: RequestState, claim: Int64?)] {
        commit.requests.map { request in
            var new = request
            let old = stored[request.key]
            if let asked = commit.revalidated[request.key],
                old?.state.validators != asked.validators || old?.state.digest != asked.digest
                    || old?.state.scope != asked.scope
            {
                // Another commit has deleted or moved rows in the meantime, perhaps of this request.
                new.forgetVersion()
            }
            guard let old, old.state.tables == new.tables, old.state.scope == new.scope else { return (new, nil) }
            return (new, old.claim)
        }
    }

    private func read(_ commit: Commit, locks: Bool) throws -> [String: RequestRow] {
        let rows = try session.all(query(commit, locks: locks)) { try read(OwnTables.requests.reader, $0) }
        return rows.reduce(into: [:]) { $0[$1.state.key] = $1 }
    }

    /// Returns the query for the stored states of a commit's requests, in the order of their keys.
    package func query(_ commit: Commit, locks: Bool) -> SQLText {
        let lock = locks ? dialect.lock("r") : ""
        return """
            SELECT \(columns(OwnTables.requests.reader)) FROM \(dialect.request) r
            WHERE r.source = \(bind: commit.report.source)
            AND \(dialect.isAmong("r.key", commit.requests.map(\.key))) ORDER BY r.key\(lock)
            """
    }

    private func delete(_ keys: [String], of source: String) throws {
        guard !keys.isEmpty else { return }
        let deletion: SQLText =
            "DELETE FROM \(dialect.request) WHERE source = \(bind: source) AND \(dialect.isAmong("key", keys))"
        guard dialect.countsClaims else {
            try session.execute(deletion)
            return
        }
        let deleted = try session.all("\(deletion) RETURNING key") { $0.string(0) ?? "" }
        if !deleted.isEmpty { try ledger.claims.recordDeletion(of: deleted, source: source) }
    }

    /// Makes requests claim everything in their tables from now on.
    package func widenScopes(of requests: Set<RequestID>) throws {
        guard !requests.isEmpty else { return }
        let claim = dialect.countsClaims ? ", claim = \(try ledger.claims.next())" : ""
        try update(requests, "scope = '{}'\(claim)", where: "r.scope <> '{}'")
    }

    /// Removes the validators of requests whose rows may have been deleted, so that their next run is unconditional.
    package func forgetValidators(of requests: Set<RequestID>) throws {
        guard !requests.isEmpty else { return }
        try update(
            requests, "etag = NULL, last_modified = NULL, digest = NULL",
            where: "(r.etag IS NOT NULL OR r.last_modified IS NOT NULL OR r.digest IS NOT NULL)")
    }

    private func update(_ requests: Set<RequestID>, _ assignments: String, where condition: String) throws {
        // Rows are locked in their order: two that lock the same rows in two orders wait for each other.
        try session.execute(
            """
            UPDATE \(dialect.request) AS u SET \(assignments)
            FROM (
                SELECT r.source, r.key
                FROM \(dialect.unnested(requests.sorted(), as: "named")) JOIN \(dialect.request) r
                ON r.source = named.source AND r.key = named.key WHERE \(condition)
                ORDER BY r.source, r.key\(dialect.lock("r"))
            ) AS changed
            WHERE u.source = changed.source AND u.key = changed.key
            """)
    }
}

extension Ledger {
    package var requests: RequestStates { RequestStates(ledger: self) }
}

extension RequestState {
    /// True if nothing identifies the version of the feed: the next request is unconditional.
    var hasNoVersion: Bool { validators.isEmpty && digest == nil }

    package mutating func forgetVersion() {
        validators = Validators()
        digest = nil
    }
}
