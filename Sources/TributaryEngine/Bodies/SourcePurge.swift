package import FeedConfiguration
import FeedModel
package import FeedParsing
package import FeedStores
package import Foundation

/// The rows and states of a source that a purge deletes, from its declaration and the states of its requests.
package struct SourcePurge {
    let source: String
    let configuration: TributaryConfiguration
    let store: any MainStore

    package init(source: String, configuration: TributaryConfiguration, store: any MainStore) {
        self.source = source
        self.configuration = configuration
        self.store = store
    }

    /// - Parameter now: the time that the store records of the purge.
    /// - Throws: `StoreError`
    package func purge(parsers: ParserRegistry, now: Date) throws -> Purge {
        var report = RunReport(source: source, outcome: .committed, startedAt: now)
        report.kind = .purge
        var states: [(source: String, state: RequestState)] = []
        try store.snapshot { reader in states = try reader.requests().map { ($0.source, $0.state) } }
        let commit = Commit(
            report: report, requests: [], state: SourceState(source: source),
            forgottenKeys: states.filter { $0.source == source }.map(\.state.key))
        var purge = Purge(
            source: source, keys: DeclaredKeys(configuration, parsers: parsers), commit: commit)
        for (owner, state) in states where owner == source {
            let declared = configuration[source: source]?.requests.first { $0.key == state.key }
            for table in state.tables {
                // The stored state of an undeclared request only says whether it mirrors a table.
                let mirrors = declared.map { $0.mirrors(table) } ?? (state.sync == .mirror && state.tables.count == 1)
                let isAlone = try !states.contains { try $0.source != source && shares($0.state, table, state.scope) }
                if mirrors, isAlone { purge.mirrored.append(ScopedRows(table: table, scope: state.scope)) }
            }
        }
        return purge
    }

    /// Returns true if a request may have written a table within a scope.
    private func shares(_ state: RequestState, _ table: String, _ scope: [String: String]) throws -> Bool {
        guard state.tables.contains(where: { $0.lowercased() == table.lowercased() }) else { return false }
        if scope.isEmpty || state.scope.isEmpty { return true }
        return try store.comparison(of: table, scopes: [scope, state.scope])
            .mayShareRows(scope, state.scope)
    }
}
