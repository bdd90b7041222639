package import FeedModel
package import FeedStores

/// The claims of requests by the tables that they have written, in memory.
package struct RequestClaims {
    /// The tables that a request wrote in its last commit, and the scope of the rows.
    package struct Claim: Equatable, Sendable {
        package var tables: Set<String>
        package var scope: [String: String]

        package init(tables: Set<String>, scope: [String: String]) {
            self.tables = tables
            self.scope = scope
        }
    }

    private var claims: [RequestID: Claim] = [:]
    private var index = ScopeIndex<RequestID>()

    package init() {}

    package func claim(of request: RequestID) -> Claim? { claims[request] }

    /// - Parameter new: nil for a request that claims nothing any more.
    package mutating func set(_ new: Claim?, of request: RequestID) {
        let old = claims[request]
        guard old != new else { return }
        for table in old?.tables ?? [] { index.remove(request, table: table) }
        for table in new?.tables ?? [] { index.insert(request, table: table, scope: new?.scope ?? [:]) }
        claims[request] = new
    }

    /// Applies a commit that is in the store.
    ///
    /// - Parameter widened: requests that now claim everything in their tables.
    package mutating func apply(_ commit: Commit, widened: Set<RequestID>) {
        let source = commit.report.source
        for key in commit.forgottenKeys { set(nil, of: RequestID(source: source, key: key)) }
        for request in commit.requests {
            set(
                Claim(tables: request.tables, scope: request.scope), of: RequestID(source: source, key: request.key))
        }
        for request in widened {
            guard var claim = claims[request] else { continue }
            claim.scope = [:]
            set(claim, of: request)
        }
    }

    /// Returns the column sets of all scopes that requests have on a table, in lower case.
    package func scopeColumns(of table: String) -> [Set<String>] { index.columns(of: table) }

    /// Returns the scopes with values that a comparison does not know.
    package mutating func scopes(of table: String, unknownTo comparison: TableComparison) -> [[String: String]] {
        index.scopes(of: table, unknownTo: comparison)
    }

    /// Returns the requests that claim rows of a table within a scope, in their order.
    package mutating func requests(
        of table: String, within scope: [String: String], comparedBy comparison: TableComparison = TableComparison()
    ) -> [RequestID] {
        index.claimants(of: table, within: scope, comparedBy: comparison).sorted()
    }

    /// Returns the requests whose scope is exactly that of these values.
    package mutating func requests(
        of table: String, exactly values: [String: ComparedValue], comparedBy comparison: TableComparison
    ) -> Set<RequestID> {
        index.claimants(of: table, exactly: values, comparedBy: comparison)
    }
}
