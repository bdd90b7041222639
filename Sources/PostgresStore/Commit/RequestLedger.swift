import FeedModel
import PostgresClient

import FeedStaging
import FeedStores

/// What a transaction writes about requests.
struct RequestLedger {
    let connection: PostgresConnection
    /// The source of the commit.
    let source: String

    /// Writes the states of a commit's requests.
    func write(_ commit: Commit) throws {
        // Validators stand for rows: delete those of requests that the stack no longer has.
        try forget(commit.forgottenKeys)
        guard !commit.requests.isEmpty else { return }
        if commit.requests.allSatisfy({ commit.revalidated[$0.key] != nil }) {
            // Most commits change nothing. Without a lock they need not wait for a commit that forgets validators: not
            // writing brings none of them back.
            let known = try stored(commit.requests, locks: false)
            if commit.requests.allSatisfy({ known[$0.key]?.state == present($0, in: commit, known) }) { return }
        }
        let stored = try stored(commit.requests, locks: true)
        let new = commit.requests.map { present($0, in: commit, stored) }
        func isClaimKept(_ request: RequestState) -> Bool {
            guard let old = stored[request.key]?.state else { return false }
            return old.tables == request.tables && old.scope == request.scope
        }
        let claim = new.allSatisfy(isClaimKept) ? 0 : try nextClaim()
        let rows = new.map { request in
            RequestRecord(state: request, claim: isClaimKept(request) ? stored[request.key]?.claim ?? claim : claim)
        }
        try insert(rows)
    }

    func insert(_ rows: [RequestRecord]) throws {
        let names = RequestRecord.columns.map(\.0)
        try connection.execute(
            """
            INSERT INTO tributary_request (source, \(names.joined(separator: ", ")))
            SELECT $1, \(names.map { "x." + $0 }.joined(separator: ", "))
            FROM jsonb_to_recordset($2::jsonb) AS x (\(RequestRecord.columns.map { "\($0) \($1)" }.joined(separator: ", ")))
            ON CONFLICT (source, key) DO UPDATE
            SET \(names.dropFirst().map { "\($0) = EXCLUDED.\($0)" }.joined(separator: ", "))
            """, [.text(source), .text(try RequestRecord.json(rows))])
    }

    /// Returns a request's state after the commit.
    private func present(_ request: RequestState, in commit: Commit, _ stored: [String: RequestRecord]) -> RequestState
    {
        var request = request
        if let asked = commit.revalidated[request.key] {
            let state = stored[request.key]?.state
            if state?.validators != asked.validators || state?.digest != asked.digest || state?.scope != asked.scope {
                // Another commit has deleted or moved rows in the meantime, perhaps of this request.
                request.validators = Validators()
                request.digest = nil
            }
        }
        return request
    }

    private func stored(_ requests: [RequestState], locks: Bool) throws -> [String: RequestRecord] {
        try connection.execute(
            """
            SELECT \(RequestState.postgresColumns(of: "r")), claim FROM tributary_request r
            WHERE source = $1 AND key = ANY ($2) ORDER BY key\(locks ? " FOR UPDATE" : "")
            """, [.text(source), .textArray(try PostgresTextArray(requests.map(\.key)))]
        ).reduce(into: [:]) { stored, row in
            let state = try RequestState(row, from: 0)
            stored[state.key] = RequestRecord(
                state: state, claim: try row.int64(RequestState.postgresColumnCount) ?? 0)
        }
    }

    private func forget(_ keys: [String]) throws {
        guard !keys.isEmpty else { return }
        let forgotten = try connection.execute(
            "DELETE FROM tributary_request WHERE source = $1 AND key = ANY ($2) RETURNING key",
            [.text(source), .textArray(try PostgresTextArray(keys))]
        ).map { $0.string(0) }
        guard !forgotten.isEmpty else { return }
        let claim = try nextClaim()
        try connection.execute(
            """
            INSERT INTO tributary_forgotten (source, key, claim) SELECT $1, key, $3 FROM unnest($2::text[]) AS key
            ON CONFLICT (source, key) DO UPDATE SET claim = EXCLUDED.claim
            """, [.text(source), .textArray(try PostgresTextArray(forgotten)), .integer(claim)])
        try connection.execute(
            "DELETE FROM tributary_forgotten WHERE claim < $1", [.integer(claim - RequestIndex.rememberedVersions)])
    }

    /// Lets requests claim everything in their tables from now on.
    func widenScopes(of requests: Set<RequestID>) throws {
        guard !requests.isEmpty else { return }
        let claim = try nextClaim()
        try update(requests, "scope = '{}', claim = \(claim)", where: "r.scope <> '{}'")
    }

    /// Removes the validators of requests whose rows may have been deleted, so that their next run is unconditional.
    func forgetValidators(of requests: Set<RequestID>) throws {
        guard !requests.isEmpty else { return }
        try update(
            requests, "etag = NULL, last_modified = NULL, digest = NULL",
            where: "(r.etag IS NOT NULL OR r.last_modified IS NOT NULL OR r.digest IS NOT NULL)")
    }

    private func update(_ requests: Set<RequestID>, _ assignments: String, where condition: String) throws {
        let sorted = requests.sorted()
        try connection.execute(
            """
            UPDATE tributary_request u SET \(assignments)
            FROM (
                -- In their order: two that lock the same rows in two orders wait for each other.
                SELECT r.source, r.key FROM tributary_request r
                JOIN unnest($1::text[], $2::text[]) AS named (source, key)
                ON r.source = named.source AND r.key = named.key WHERE \(condition)
                ORDER BY r.source, r.key FOR UPDATE OF r
            ) named
            WHERE u.source = named.source AND u.key = named.key
            """,
            [
                .textArray(try PostgresTextArray(sorted.map(\.source))),
                .textArray(try PostgresTextArray(sorted.map(\.key))),
            ])
    }

    /// Returns the version of the claims that the transaction makes. No other transaction makes one until this one ends,
    /// so that versions are seen in their order.
    func nextClaim() throws -> Int64 {
        try connection.execute("UPDATE tributary_claims SET version = version + 1 RETURNING version")[0].int64(0) ?? 0
    }
}
