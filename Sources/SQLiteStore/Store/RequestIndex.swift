import FeedModel
import FeedStores
import GRDB

/// The requests that have written each table. Every commit that mirrors asks it, so its time must not grow with the
/// number of sources.
///
/// `@unchecked Sendable`: used only by the holder of the writing connection, which GRDB gives to one at a time.
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

    /// Returns the requests whose last commit wrote rows of the table within the scope.
    package func requests(of table: String, within scope: [String: String], _ db: Database) throws -> [RequestID] {
        try renew(db)
        return index.claimants(of: table, within: scope, comparedBy: try comparison(of: table, scope.keys, db)).sorted()
    }

    /// Returns how a table compares these columns, and those named by the scopes of requests that have written it.
    func comparison(of table: String, _ columns: some Sequence<String>, _ db: Database) throws -> TableComparison {
        let columns = Set(columns.map { $0.lowercased() })
        return try tableInfos.comparison(
            of: table, columns: index.columns(of: table).reduce(into: columns) { $0.formUnion($1) }, in: db)
    }

    /// Returns the sets of columns, in lower case, by which rows of a table are told apart. Each set is that of some
    /// scope.
    func scopeColumns(of table: String, _ db: Database) throws -> [Set<String>] {
        try renew(db)
        return index.columns(of: table)
    }

    /// Returns the requests whose scope a row has left.
    func requests(losing row: MovedRow, _ db: Database) throws -> Set<RequestID> {
        try renew(db)
        return index.claimants(
            of: row.table, exactly: row.values, comparedBy: try comparison(of: row.table, row.values.keys, db))
    }

    /// Notes the requests of a commit once it is in the store.
    ///
    /// - Parameter widened: requests that now claim everything in their tables.
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
