package import FeedConfiguration
import FeedModel
package import FeedParsing
package import FeedStores
package import Foundation

extension TributaryConfiguration {
    /// Returns the rows and states of a source that a purge deletes, from its declaration and the states of its requests.
    ///
    /// - Parameter now: the time that the store records of the purge.
    /// - Throws: `StoreError`
    package func purge(
        of source: String, in store: any MainStore, parsers: ParserRegistry, now: Date
    ) throws -> Purge {
        var report = RunReport(source: source, outcome: .committed, startedAt: now)
        report.kind = .purge
        var states: [(source: String, state: RequestState)] = []
        try store.snapshot { reader in states = try reader.requests().map { ($0.source, $0.state) } }
        let commit = Commit(
            report: report, requests: [], state: SourceState(source: source),
            forgottenKeys: states.filter { $0.source == source }.map(\.state.key))
        var purge = Purge(source: source, keys: DeclaredKeys(self, parsers: parsers), commit: commit)
        for (owner, state) in states {
            let declared = self[source: owner]?.requests.first { $0.key == state.key }
            for table in state.tables where owner != source && declared?.mirrors(table) == true {
                purge.kept.append(ScopedRows(table: table, scope: state.scope))
            }
            for table in state.tables where owner == source {
                // The stored state of an undeclared request only says whether it mirrors a table.
                let mirrors = declared.map { $0.mirrors(table) } ?? (state.sync == .mirror && state.tables.count == 1)
                let isShared = try states.contains { owner, other in
                    try owner != source && other.tables.contains { $0.lowercased() == table.lowercased() }
                        && store.mayShareRows(of: table, state.scope, other.scope)
                }
                if mirrors, !isShared { purge.mirrored.append(ScopedRows(table: table, scope: state.scope)) }
            }
        }
        return purge
    }
}

extension MainStore {
    /// Returns true if two scopes may have rows of a table in common.
    func mayShareRows(of table: String, _ scope: [String: String], _ other: [String: String]) throws -> Bool {
        if scope.isEmpty || other.isEmpty { return true }
        return try comparison(of: table, scopes: [scope, other]).mayShareRows(scope, other)
    }
}
