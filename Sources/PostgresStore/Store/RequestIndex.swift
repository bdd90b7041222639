import FeedModel
import PostgresClient
import Synchronization

/// The requests that have written each table. Every commit that mirrors asks it, so its time must not grow with the
/// number of sources: it is kept in memory, and only what other commits have changed is read anew.
///
/// `@unchecked Sendable`: all of its state is under the mutex.
final class RequestIndex: @unchecked Sendable {
    private struct Claims: Equatable {
        var tables: Set<String>
        var scope: [String: String]
    }

    private struct State {
        var claims: [RequestID: Claims] = [:]
        var index = ScopeIndex<RequestID>()
        /// The version of the claims that were read; nil before the first look.
        var version: Int64?
        /// The start of the server that told the version.
        var serverStart: String?

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

    /// Reads what has changed. Called by a commit once it holds its tables' locks, and before it changes any claim.
    func renew(_ connection: PostgresConnection) throws {
        // While a commit that changes claims has not ended, no later version can be seen.
        let row = try connection.execute(
            "SELECT version, pg_postmaster_start_time() FROM tributary_claims")[0]
        let version = try row.int64(0) ?? 0
        let serverStart = row.string(1)
        try state.withLock { state in
            // A standby that took over, or a server that crashed, may lack the last versions, and have others of the
            // same numbers instead. An older version than before is that of a database which was restored.
            let isSameServer = state.serverStart == serverStart
            var seen = state.version ?? .min
            if seen == version, isSameServer { return }
            if !isSameServer || seen > version || seen < version - Self.rememberedVersions {
                state = State()
                seen = .min
            }
            let changed = try connection.execute(
                """
                SELECT source, key, tables, scope FROM tributary_request WHERE claim > $1
                UNION ALL
                SELECT source, key, NULL, NULL FROM tributary_forgotten f WHERE claim > $1 AND NOT EXISTS (
                    SELECT 1 FROM tributary_request r WHERE r.source = f.source AND r.key = f.key)
                """, [.integer(seen)])
            for row in changed {
                let request = RequestID(source: row.string(0) ?? "", key: row.string(1) ?? "")
                let claims = row.isNull(2) ? nil : Claims(tables: try row.tables(2), scope: row.scope(3))
                state.set(claims, of: request)
            }
            state.version = version
            state.serverStart = serverStart
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
