import FeedModel
import PostgresClient
import Synchronization

/// The requests that have written each table. Every commit that mirrors asks it, so its time must not grow with the
/// number of sources: it is kept in memory, and only what other commits have changed is read again.
final class RequestIndex: Sendable {
    private struct Claims: Equatable {
        var tables: Set<String>
        var scope: [String: String]
    }

    /// What the store says of the claims at some moment.
    private struct Version: Equatable {
        var number: Int64
        /// The start of the server that told the number.
        var serverStart: String?
    }

    private struct State {
        var claims: [RequestID: Claims] = [:]
        var index = ScopeIndex<RequestID>()
        /// The version of the claims that were read; nil before the first look.
        var version: Version?
        /// How often all claims have been read.
        var loads = 0

        mutating func set(_ new: Claims?, of request: RequestID) {
            let old = claims[request]
            guard old != new else { return }
            for table in old?.tables ?? [] { index.remove(request, table: table) }
            for table in new?.tables ?? [] { index.insert(request, table: table, scope: new?.scope ?? [:]) }
            claims[request] = new
        }
    }

    /// The number of versions for which the store remembers the requests that were forgotten.
    static let rememberedVersions: Int64 = 10_000

    private let state = Mutex(State())

    /// How often all claims have been read.
    var loads: Int { state.withLock(\.loads) }

    /// Reads what has changed. Called by a commit once it holds its tables' locks, and before it changes any claim.
    ///
    /// Nobody waits for the server under the lock: what another thread knows already is not read, and where two read the
    /// same, the later version stays.
    ///
    /// - Throws: `PostgresError`; what was known before is known still.
    func renew(_ connection: PostgresConnection) throws {
        // Looked at before the store is asked, which can then only have the same version or a later one.
        let known = state.withLock(\.version)
        let row = try connection.execute("SELECT version, pg_postmaster_start_time() FROM tributary_claims")[0]
        // While a commit that changes claims has not ended, no later version can be seen.
        let current = Version(number: try row.int64(0) ?? 0, serverStart: row.string(1))
        if known == current { return }
        // A standby that took over, or a server that crashed, may lack the last versions, and have others of the same
        // numbers instead. An older version than before is that of a database which was restored.
        let base = known.flatMap { known in
            known.serverStart == current.serverStart && known.number < current.number
                && known.number >= current.number - Self.rememberedVersions ? known : nil
        }
        let changed = try changes(since: base?.number ?? .min, connection)
        state.withLock { state in
            if let version = state.version, version != known, version.serverStart == current.serverStart,
                version.number >= current.number
            {
                // Another thread has read the same meanwhile, or more.
                return
            }
            if base == nil {
                var new = State()
                new.loads = state.loads + 1
                state = new
            }
            for (request, claims) in changed { state.set(claims, of: request) }
            state.version = current
        }
    }

    /// - Returns: the claims that were made since a version; nil for requests that were forgotten.
    private func changes(since version: Int64, _ connection: PostgresConnection) throws -> [(RequestID, Claims?)] {
        try connection.execute(
            """
            SELECT source, key, tables, scope FROM tributary_request WHERE claim > $1
            UNION ALL
            SELECT source, key, NULL, NULL FROM tributary_forgotten f WHERE claim > $1 AND NOT EXISTS (
                SELECT 1 FROM tributary_request r WHERE r.source = f.source AND r.key = f.key)
            """, [.integer(version)]
        ).map { row in
            let request = RequestID(source: row.string(0) ?? "", key: row.string(1) ?? "")
            return (request, row.isNull(2) ? nil : Claims(tables: try row.tables(2), scope: row.scope(3)))
        }
    }

    /// Returns the sets of columns, in lower case, by which rows of a table are told apart. Each set is that of some
    /// scope.
    func scopeColumns(of table: String) -> [Set<String>] { state.withLock { $0.index.columns(of: table) } }

    func requests(
        of table: String, within scope: [String: String], comparedBy comparison: TableComparison
    ) -> [RequestID] {
        state.withLock { $0.index.claimants(of: table, within: scope, comparedBy: comparison) }.sorted()
    }

    func requests(
        of table: String, exactly values: [String: ComparedValue], comparedBy comparison: TableComparison
    ) -> Set<RequestID> {
        state.withLock { $0.index.claimants(of: table, exactly: values, comparedBy: comparison) }
    }
}
