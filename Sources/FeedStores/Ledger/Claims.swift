package import FeedModel

/// The claims of requests on rows: `tributary_claim`, which is written along with `tributary_request`.
///
/// Many sources may write one table, each with its own value of a scope. A question for a scope reads by the table's
/// index what is at the scope's place (``ScopePlace``), and the claims whose scopes have fewer or other columns.
package struct Claims: LedgerPart {
    let ledger: Ledger

    /// The claim of a request on rows of a table that it has written.
    package struct Claim: Sendable {
        package var request: RequestID
        package var scope: [String: String]
    }

    // MARK: - Questions

    /// Returns the claims on a table's rows that may be within a scope, in the order of their requests. Their scopes are yet
    /// to be compared.
    ///
    /// - Parameter isFolded: false if the table may hold values of the scope's columns for equal whose folded forms differ.
    package func candidates(
        of table: String, within scope: [String: String], isFolded: Bool
    ) throws -> [Claim] { try all(query(of: table, within: scope, isFolded: isFolded)) }

    /// Returns the query of ``candidates(of:within:isFolded:)``.
    package func query(of table: String, within scope: [String: String], isFolded: Bool) -> SQLText {
        let place = ScopePlace(scope)
        guard isFolded, !scope.isEmpty, place.values != 0 else { return claims(of: table) }
        // Each range has two ends. Where it has one, PostgreSQL takes it for a third of the table, and reads all of it.
        return """
            \(claims(of: table, at: place))
            UNION ALL \(claims(of: table)) AND columns BETWEEN 0 AND \(bind: place.columns - 1)
            UNION ALL \(claims(of: table)) AND columns BETWEEN \(bind: place.columns + 1) AND \(String(Int64.max))
            """
    }

    /// Returns the claims on a table's rows whose scopes may have exactly these values. They are yet to be compared.
    package func candidates(
        of table: String, exactly values: [String: ComparedValue], isFolded: Bool
    ) throws -> [Claim] {
        let place = ScopePlace(values)
        return try all(
            isFolded && place.values != 0
                ? claims(of: table, at: place) : "\(claims(of: table)) AND columns = \(bind: place.columns)")
    }

    private func claims(of table: String, at place: ScopePlace) -> SQLText {
        let claims: SQLText = "\(claims(of: table)) AND columns = \(bind: place.columns)"
        return "\(claims) AND folded = \(bind: place.values) UNION ALL \(claims) AND folded = 0"
    }

    private func claims(of table: String) -> SQLText {
        "SELECT source, key, scope FROM \(dialect.claim) WHERE \"table\" = \(bind: table.lowercased())"
    }

    private func all(_ query: SQLText) throws -> [Claim] {
        try session.all(query, Self.claim).sorted { $0.request < $1.request }
    }

    /// Reads a row of ``query(of:within:isFolded:)``.
    package static func claim(_ row: any SQLRow) -> Claim {
        Claim(
            request: RequestID(source: row.string(0) ?? "", key: row.string(1) ?? ""),
            scope: row.string(2).map(JSONText.object) ?? [:])
    }

    /// Returns the sets of columns, in lower case, that scopes of a table's rows name.
    package func columns(of table: String) throws -> [Set<String>] {
        try session.all(columnsQuery(of: table), Self.columns)
    }

    /// Returns the query of ``columns(of:)``, which goes from one set of columns to the next.
    package func columnsQuery(of table: String) -> SQLText {
        let isOf: SQLText = "FROM \(dialect.claim) c WHERE c.\"table\" = \(bind: table.lowercased())"
        return """
            WITH RECURSIVE sets (columns) AS (
                SELECT min(c.columns) \(isOf) AND c.columns > 0
                UNION ALL
                SELECT (SELECT min(c.columns) \(isOf) AND c.columns > s.columns) FROM sets s WHERE s.columns IS NOT NULL)
            SELECT (SELECT c.scope \(isOf) AND c.columns = s.columns ORDER BY c.folded LIMIT 1)
            FROM sets s WHERE s.columns IS NOT NULL
            """
    }

    /// Reads a row of ``columnsQuery(of:)``.
    package static func columns(_ row: any SQLRow) -> Set<String> {
        Set((row.string(0).map(JSONText.object) ?? [:]).keys.map { $0.lowercased() })
    }

    // MARK: - Changes

    /// Writes the claims of a source's requests. Those on other tables have been removed.
    func write(_ states: [RequestState], of source: String) throws {
        let rows = states.flatMap { state in
            Set(state.tables.map { $0.lowercased() }).sorted().map { ClaimRow(source, state, table: $0) }
        }
        for start in stride(from: 0, to: rows.count, by: dialect.rowsInStatement) {
            let some = rows[start...].prefix(dialect.rowsInStatement)
            try session.execute(OwnTables.claims.upsert(of: some, dialect.tables))
        }
    }

    func remove(_ keys: [String], of source: String) throws {
        guard !keys.isEmpty else { return }
        try session.execute(
            "DELETE FROM \(dialect.claim) WHERE source = \(bind: source) AND \(dialect.isAmong("key", keys))")
    }

    /// Makes requests claim everything in their tables.
    func widen(_ requests: Set<RequestID>) throws {
        try session.execute(
            """
            UPDATE \(dialect.claim) AS c SET scope = '{}', columns = 0, folded = 0
            FROM \(dialect.unnested(requests.sorted(), as: "named"))
            WHERE c.source = named.source AND c.key = named.key AND c.columns > 0
            """)
    }
}

extension Ledger {
    package var claims: Claims { Claims(ledger: self) }
}
