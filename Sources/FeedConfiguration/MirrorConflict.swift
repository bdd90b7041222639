package import FeedDeclarations
package import FeedModel

/// Two requests of different sources that mirror the same rows of a table: each would delete the other's.
package struct MirrorConflict: Sendable {
    let place: TOMLKeyPath
    let message: String

    /// Returns the conflict as an error of the file, `FILE: KEY: …`.
    package func description(file: String) -> String { "\(file): \(place): \(message)" }

    /// Returns every conflict between the enabled sources, as far as they declare the tables that they write. A
    /// parser's undeclared tables are known only after its first commit, and are checked at each commit.
    ///
    /// - Parameter comparison: returns a table's comparison of the columns, in lower case, that scopes name.
    package static func all(
        in configuration: TributaryConfiguration, parsers: any BodyParsing,
        comparison: (_ table: String, _ columns: Set<String>) throws -> TableComparison
    ) rethrows -> [MirrorConflict] {
        let mirrors = configuration.enabledSources.flatMap { source in
            source.requests.enumerated().flatMap { index, request -> [Mirror] in
                guard request.mirrors else { return [] }
                return parsers.tables(of: request.content).filter(request.mirrors).map {
                    Mirror(source: source.name, index: index, table: $0, scope: request.scope)
                }
            }
        }
        var columns: [String: Set<String>] = [:]
        for mirror in mirrors {
            columns[mirror.table.lowercased(), default: []].formUnion(mirror.scope.keys.map { $0.lowercased() })
        }
        var comparisons: [String: TableComparison] = [:]
        for (table, names) in columns where !names.isEmpty { comparisons[table] = try comparison(table, names) }
        var claims = ScopeIndex<Int>()
        var conflicts: [MirrorConflict] = []
        for (number, mirror) in mirrors.enumerated() {
            let rivals = claims.claimants(
                of: mirror.table, within: mirror.scope,
                comparedBy: comparisons[mirror.table.lowercased()] ?? TableComparison())
            if let rival = rivals.filter({ mirrors[$0].source != mirror.source }).min() {
                conflicts.append(
                    MirrorConflict(
                        place: mirror.place,
                        message: "mirrors table '\(mirror.table)', and so does \(mirrors[rival].place); each would "
                            + "delete the other's rows; give each its own scope"))
            }
            claims.insert(number, table: mirror.table, scope: mirror.scope)
        }
        return conflicts
    }

    private struct Mirror {
        var source: String
        /// The request's position in the source.
        var index: Int
        var table: String
        var scope: [String: String]

        var place: TOMLKeyPath {
            TOMLKeyPath().appending("sources").appending(source).appending("requests").appending(index)
        }
    }
}
