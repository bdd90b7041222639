package import FeedModel

/// The states of requests: `tributary_request`.
package struct RequestStates: LedgerPart {
    let ledger: Ledger

    /// Returns the states of all requests of all sources.
    ///
    /// - Parameter standsForItsRows: as for ``SourceStates/states(of:standsForItsRows:)``.
    package func all(standsForItsRows: (RequestState) throws -> Bool) throws -> [RequestRow] {
        let rows = try session.all("SELECT \(columns(OwnTables.requests.reader)) FROM \(dialect.request) r") {
            try read(OwnTables.requests.reader, $0)
        }
        return try rows.map { row in
            var row = row
            if try !row.state.hasNoVersion && !standsForItsRows(row.state) { row.state.forgetVersion() }
            return row
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

    /// Writes the states of a commit's requests, and their claims where these have changed.
    func write(_ commit: Commit) throws {
        let source = commit.report.source
        // Validators stand for rows: delete those of requests that the stack no longer has.
        try delete(commit.forgottenKeys, of: source)
        guard !commit.requests.isEmpty else { return }
        var stored: [String: RequestRow]?
        if commit.requests.allSatisfy({ commit.revalidated[$0.key] != nil }) {
            // Most commits change nothing. Without a lock they need not wait for a commit that forgets validators: not
            // writing brings none of them back.
            let unlocked = try read(commit, locks: false)
            if states(of: commit, unlocked).allSatisfy({ unlocked[$0.key]?.state == $0 }) { return }
            if dialect.lock("r").isEmpty { stored = unlocked }
        }
        let known = try stored ?? read(commit, locks: true)
        try write(states(of: commit, known), of: source, known)
    }

    /// Writes the states of a source's requests, and their claims.
    package func write(_ states: [RequestState], of source: String) throws {
        try ledger.claims.remove(states.map(\.key), of: source)
        try write(states, of: source, [:])
    }

    /// - Parameter stored: the states before, by key.
    private func write(_ states: [RequestState], of source: String, _ stored: [String: RequestRow]) throws {
        for start in stride(from: 0, to: states.count, by: dialect.rowsInStatement) {
            let rows = states[start...].prefix(dialect.rowsInStatement).map { RequestRow(source: source, state: $0) }
            try session.execute(OwnTables.requests.upsert(of: rows, dialect.tables))
        }
        let changed = states.filter { stored[$0.key]?.state.hasClaims(of: $0) != true }
        try ledger.claims.remove(changed.map(\.key).filter { stored[$0] != nil }, of: source)
        try ledger.claims.write(changed, of: source)
    }

    /// Returns the states of a commit's requests.
    ///
    /// - Parameter stored: the states before, by key.
    package func states(of commit: Commit, _ stored: [String: RequestRow]) -> [RequestState] {
        commit.requests.map { request in
            var new = request
            let old = stored[request.key]?.state
            if let asked = commit.revalidated[request.key] ?? commit.continued[request.key],
                old?.validators != asked.validators || old?.digest != asked.digest || old?.scope != asked.scope
            {
                // Another commit has deleted or moved rows in the meantime, perhaps of this request.
                new.forgetVersion()
            }
            return new
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
        try session.execute(
            "DELETE FROM \(dialect.request) WHERE source = \(bind: source) AND \(dialect.isAmong("key", keys))")
        try ledger.claims.remove(keys, of: source)
    }

    /// Makes requests claim everything in their tables from now on.
    package func widenScopes(of requests: Set<RequestID>) throws {
        guard !requests.isEmpty else { return }
        try update(requests, "scope = '{}'", where: "r.scope <> '{}'")
        try ledger.claims.widen(requests)
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
