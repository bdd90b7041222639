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
        try session.all("SELECT r.source, \(RequestState.columns(of: "r")) FROM \(dialect.request) r") { row in
            TransferredRequest(source: row.string(0) ?? "", state: try RequestState(row, from: 1))
        }.map { request in
            guard try !request.state.hasNoVersion && !standsForItsRows(request.state) else { return request }
            var request = request
            request.state.forgetVersion()
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
        let rows = states.map { RequestRow(state: $0.state, claim: $0.claim ?? claim) }
        for start in stride(from: 0, to: rows.count, by: dialect.rowsInStatement) {
            try session.execute(insertion(of: rows[start...].prefix(dialect.rowsInStatement), source: source))
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
        let rows = try session.all(query(commit, locks: locks)) { try RequestRow($0) }
        return rows.reduce(into: [:]) { $0[$1.state.key] = $1 }
    }

    /// Returns the query for the stored states of a commit's requests, in the order of their keys.
    package func query(_ commit: Commit, locks: Bool) -> SQLText {
        let claim = dialect.countsClaims ? "r.claim" : "0"
        let lock = locks ? dialect.lock("r") : ""
        return """
            SELECT \(RequestState.columns(of: "r")), \(claim) FROM \(dialect.request) r
            WHERE r.source = \(bind: commit.report.source)
            AND \(dialect.isAmong("r.key", commit.requests.map(\.key))) ORDER BY r.key\(lock)
            """
    }

    /// Returns the statement that writes states.
    package func insertion(of rows: some Sequence<RequestRow>, source: String) throws -> SQLText {
        let columns = RequestState.columns + (dialect.countsClaims ? ["claim"] : [])
        let assignments = columns.dropFirst().map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        let values = try rows.map { row in
            let claim: [SQLText.Value] = dialect.countsClaims ? [.integer(row.claim)] : []
            return "(\(SQLText(binding: try row.state.values(of: source) + claim)))" as SQLText
        }
        return """
            INSERT INTO \(dialect.request) (source, \(columns.joined(separator: ", ")))
            VALUES \(values.joined(separator: ", "))
            ON CONFLICT (source, key) DO UPDATE SET \(assignments)
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

/// A row of `tributary_request`.
package struct RequestRow {
    package var state: RequestState
    /// The version of the claims when the request's tables or scope last changed; 0 if claims have no versions.
    package var claim: Int64

    package init(state: RequestState, claim: Int64) {
        self.state = state
        self.claim = claim
    }

    /// Reads a row of ``RequestStates/query(_:locks:)``.
    package init(_ row: any SQLRow) throws {
        state = try RequestState(row, from: 0)
        claim = try row.int64(RequestState.columns.count) ?? 0
    }
}

extension Ledger {
    package var requests: RequestStates { RequestStates(ledger: self) }
}

extension RequestState {
    /// The columns of a state, in the order in which they are read and written.
    package static let columns = [
        "key", "etag", "last_modified", "fingerprint", "tables", "sync", "scope", "digest", "moved_to", "moved_times",
        "schema", "bodies", "shape",
    ]

    package static func columns(of alias: String) -> String { columns.map { "\(alias).\($0)" }.joined(separator: ", ") }

    /// - Parameter first: the position of the first of ``columns``.
    package init(_ row: any SQLRow, from first: Int) throws {
        self.init(
            key: row.string(first) ?? "",
            validators: Validators(etag: row.string(first + 1), lastModified: row.string(first + 2)),
            fingerprint: row.string(first + 3) ?? "", tables: Set(try row.texts(first + 4)),
            sync: row.string(first + 5).flatMap(SyncMode.init) ?? .upsert,
            scope: row.string(first + 6).map(JSONText.object) ?? [:])
        digest = row.string(first + 7)
        movedTo = row.string(first + 8)
        movedTimes = try row.int(first + 9) ?? 0
        schema = row.string(first + 10)
        bodies = row.string(first + 11)?.split(separator: " ").map(String.init) ?? []
        shape = row.string(first + 12)
    }

    /// Returns the source, and a value for each of ``columns``.
    fileprivate func values(of source: String) throws -> [SQLText.Value] {
        [
            .text(source), .text(key), .init(validators.etag), .init(validators.lastModified), .text(fingerprint),
            .texts(tables.sorted()), .text(sync.rawValue), .text(try JSONText.encode(scope)), .init(digest),
            .init(movedTo), .init(movedTimes), .init(schema),
            .init(bodies.isEmpty ? nil : bodies.joined(separator: " ")), .init(shape),
        ]
    }

    /// True if nothing identifies the version of the feed: the next request is unconditional.
    var hasNoVersion: Bool { validators.isEmpty && digest == nil }

    package mutating func forgetVersion() {
        validators = Validators()
        digest = nil
    }
}
