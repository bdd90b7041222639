package import FeedModel

/// Two requests of different sources that mirror the same rows of a table: each would delete the other's.
package enum MirrorConflict {
    /// Returns every conflict between the enabled sources, as far as they declare the tables that they write. A
    /// parser's undeclared tables are known only after its first commit, and are checked at each commit.
    ///
    /// - Parameter comparison: returns a table's comparison of the columns and values of scopes.
    package static func all(
        in configuration: TributaryConfiguration, parsers: any BodyParsing,
        comparison: (_ table: String, _ scopes: [[String: String]]) throws -> TableComparison
    ) rethrows -> [Mistake] {
        let mirrors = configuration.enabledSources.flatMap { source in
            source.requests.flatMap { request -> [Mirror] in
                guard request.mirrors else { return [] }
                return parsers.tables(of: request.content).filter(request.mirrors).map {
                    Mirror(source: source.name, place: request.place, table: $0, scope: request.scope)
                }
            }
        }
        var scopes: [String: [[String: String]]] = [:]
        for mirror in mirrors where !mirror.scope.isEmpty {
            scopes[mirror.table.lowercased(), default: []].append(mirror.scope)
        }
        let comparisons = try scopes.reduce(into: [String: TableComparison]()) {
            $0[$1.key] = try comparison($1.key, $1.value)
        }
        var claims = ScopeIndex<Int>(comparisons: comparisons)
        var conflicts: [Mistake] = []
        for (number, mirror) in mirrors.enumerated() {
            let rivals = claims.claimants(of: mirror.table, within: mirror.scope)
            if let rival = rivals.filter({ mirrors[$0].source != mirror.source }).min() {
                conflicts.append(
                    Mistake(
                        mirror.place,
                        "mirrors table '\(mirror.table)', and so does \(mirrors[rival].place.path); each would delete the "
                            + "other's rows", help: "give each its own scope"))
            }
            claims.insert(number, table: mirror.table, scope: mirror.scope)
        }
        return conflicts
    }

    private struct Mirror {
        var source: String
        var place: KeyPlace
        var table: String
        var scope: [String: String]
    }
}
