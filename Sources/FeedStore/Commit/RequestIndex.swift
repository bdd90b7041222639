import FeedModel
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

    private let tableInfos: TableInfoCache
    private var claims: [RequestID: Claims] = [:]
    private var index = ScopeIndex<RequestID>()
    /// Changes when another process has committed (pragma.html, "data_version"); nil before the first look.
    private var version: Int?

    init(_ tableInfos: TableInfoCache) { self.tableInfos = tableInfos }

    /// The requests that, when they were last committed, wrote rows of the table within the scope.
    func requests(of table: String, within scope: [String: String], _ db: Database) throws -> [RequestID] {
        try renew(db)
        return index.claimants(of: table, within: scope, comparedBy: try comparison(of: table, scope.keys, db)).sorted()
    }

    /// How a table compares these columns, and those that the scopes of whoever has written it name.
    func comparison(of table: String, _ columns: some Sequence<String>, _ db: Database) throws -> TableComparison {
        let columns = Set(columns.map { $0.lowercased() })
        return try tableInfos.comparison(
            of: table, columns: index.columns(of: table).reduce(into: columns) { $0.formUnion($1) }, in: db)
    }

    /// The sets of columns, in lower case, by which rows of a table are told apart: each is some scope's.
    func scopeColumns(of table: String, _ db: Database) throws -> [Set<String>] {
        try renew(db)
        return index.columns(of: table)
    }

    /// The requests whose scope is that of a row which has left it.
    func requests(losing row: MovedRow, _ db: Database) throws -> Set<RequestID> {
        try renew(db)
        return index.claimants(
            of: row.table, exactly: row.values, comparedBy: try comparison(of: row.table, row.values.keys, db))
    }

    /// What a commit has written, once it is there.
    ///
    /// - Parameter widened: requests that now claim whatever their tables hold.
    func note(_ commit: Commit, widened: Set<RequestID> = []) {
        guard version != nil else { return }
        let source = commit.report.source
        for key in commit.forgottenKeys { set(nil, of: RequestID(source: source, key: key)) }
        for request in commit.requests {
            set(
                Claims(tables: request.tables, scope: request.scope),
                of: RequestID(source: source, key: request.key))
        }
        for request in widened {
            guard var claim = claims[request] else { continue }
            claim.scope = [:]
            set(claim, of: request)
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
        for table in old?.tables ?? [] { index.remove(request, table: table) }
        for table in new?.tables ?? [] { index.insert(request, table: table, scope: new?.scope ?? [:]) }
        claims[request] = new
    }
}
