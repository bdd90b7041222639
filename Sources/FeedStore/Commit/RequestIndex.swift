import GRDB

/// Which requests have written which tables: asked at each commit that mirrors, so that it must not take longer the more
/// sources there are.
///
/// `@unchecked Sendable`: used only by whoever has the writing connection, which GRDB gives to one at a time.
final class RequestIndex: @unchecked Sendable {
    private struct Claims: Equatable {
        var tables: Set<String>
        var scope: [String: String]
    }

    private var claims: [RequestID: Claims] = [:]
    private var index = ScopeIndex<RequestID>()
    /// Changes when another process has committed (pragma.html, "data_version"); nil before the first look.
    private var version: Int?

    /// The requests of other sources that, when they were last committed, wrote rows of the table within the scope.
    func requests(
        of table: String, within scope: [String: String], exceptOf source: String, _ db: Database
    ) throws -> [RequestID] {
        try renew(db)
        return index.claimants(of: table, within: scope).filter { $0.source != source }.sorted()
    }

    /// What a commit has written, once it is there.
    func note(_ commit: Commit) {
        guard version != nil else { return }
        let source = commit.report.source
        for key in commit.forgottenKeys { set(nil, of: RequestID(source: source, key: key)) }
        for request in commit.requests {
            set(
                Claims(tables: request.tables, scope: request.scope),
                of: RequestID(source: source, key: request.key))
        }
    }

    private func renew(_ db: Database) throws {
        let current = try Int.fetchOne(db.cachedStatement(sql: "PRAGMA main.data_version"))
        guard version != current else { return }
        version = nil
        claims = [:]
        index = ScopeIndex()
        for (source, state) in try db.requestStates() {
            set(Claims(tables: state.tables, scope: state.scope), of: RequestID(source: source, key: state.key))
        }
        version = current
    }

    private func set(_ new: Claims?, of request: RequestID) {
        let old = claims[request]
        guard old != new else { return }
        for table in old?.tables ?? [] { index.remove(request, table: table, scope: old?.scope ?? [:]) }
        for table in new?.tables ?? [] { index.insert(request, table: table, scope: new?.scope ?? [:]) }
        claims[request] = new
    }
}
