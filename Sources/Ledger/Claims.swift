import FeedModel
import StoreSQL

/// The claims of requests on rows: the tables and the scope of each, in `tributary_request`. Where several processes
/// write a store, `tributary_claims` numbers their changes, and `tributary_forgotten` has the requests that are gone.
struct Claims: LedgerPart {
    let ledger: Ledger

    /// The number of versions for which the store remembers the requests that were forgotten.
    private static let rememberedVersions: Int64 = 10_000

    /// The version of the claims at some moment.
    struct Version: Equatable, Sendable {
        var number: Int64
        /// The start of the server that counted; nil if ``LedgerDialect/countsClaims`` is false.
        var serverStart: String?
    }

    /// Returns a version that differs from former ones where another session has changed claims since.
    func version() throws -> Version {
        let version = try session.first(SQLText(dialect.claimsVersion)) { row in
            Version(number: try row.int64(0) ?? 0, serverStart: dialect.countsClaims ? row.string(1) : nil)
        }
        return version ?? Version(number: 0)
    }

    /// Returns the changes since a version.
    ///
    /// - Returns: the claims of requests, nil for deleted ones; nil if all claims must be read.
    func changes(from old: Version?, to new: Version) throws -> [(RequestID, RequestClaims.Claim?)]? {
        // A standby that took over, or a server that crashed, may lack the last versions, and have others of the same
        // numbers instead. An older version than before is that of a database which was restored.
        guard let old, new.serverStart != nil, old.serverStart == new.serverStart, old.number < new.number,
            old.number >= new.number - Self.rememberedVersions
        else { return nil }
        return try read(
            """
            SELECT source, key, tables, scope FROM \(dialect.request) WHERE claim > \(bind: old.number)
            UNION ALL
            SELECT source, key, NULL, NULL FROM \(dialect.forgottenRequest) f WHERE claim > \(bind: old.number)
            AND NOT EXISTS (SELECT 1 FROM \(dialect.request) r WHERE r.source = f.source AND r.key = f.key)
            """)
    }

    func all() throws -> [(RequestID, RequestClaims.Claim?)] {
        try read("SELECT source, key, tables, scope FROM \(dialect.request)")
    }

    private func read(_ query: SQLText) throws -> [(RequestID, RequestClaims.Claim?)] {
        try session.all(query) { row in
            let request = RequestID(source: row.string(0) ?? "", key: row.string(1) ?? "")
            guard !row.isNull(2) else { return (request, nil) }
            let scope = row.string(3).map(JSONText.object) ?? [:]
            return (request, RequestClaims.Claim(tables: Set(try row.texts(2)), scope: scope))
        }
    }

    /// Returns the version of the claims that the transaction makes. No other transaction makes one until this one ends,
    /// so that versions are seen in their order.
    func next() throws -> Int64 {
        try session.all("UPDATE \(dialect.claims) SET version = version + 1 RETURNING version") { try $0.int64(0) }
            .first.flatMap(\.self) ?? 0
    }

    /// Remembers requests that were deleted, for a while.
    func recordDeletion(of keys: [String], source: String) throws {
        let claim = try next()
        try session.execute(
            """
            INSERT INTO \(dialect.forgottenRequest) (source, key, claim)
            SELECT \(bind: source), k.value, \(bind: claim) FROM \(dialect.unnested(keys, as: "k"))
            ON CONFLICT (source, key) DO UPDATE SET claim = excluded.claim
            """)
        try session.execute(
            "DELETE FROM \(dialect.forgottenRequest) WHERE claim < \(bind: claim - Self.rememberedVersions)")
    }
}

extension Ledger {
    var claims: Claims { Claims(ledger: self) }
}
