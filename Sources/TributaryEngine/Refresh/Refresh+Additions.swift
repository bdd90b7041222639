import FeedDeclarations
import FeedModel
import FeedParsing
import FeedStores
import Logging

extension Refresh {
    /// Removes the tables and columns that the run has made, because it commits nothing. Those stay that a run of another source
    /// may use by now.
    func removeAdditions() {
        let made = additions.all
        guard !made.isEmpty else { return }
        let tables = Set(made.map { $0.table.lowercased() })
        var claims: [any SourceClaim] = []
        defer { for claim in claims { claim.unlock() } }
        do {
            for source in environment.configuration.sources where source.name != run.source.name {
                let written = source.requests.flatMap { environment.registry.tables(of: $0.content) }
                guard written.contains(where: { tables.contains($0.lowercased()) }) else { continue }
                guard let claim = try environment.store.claim(source.name) else { return }
                claims.append(claim)
            }
            try environment.store.remove(made)
        } catch {
            environment.logger.warning(
                "The tables that a run has made cannot be removed again",
                metadata: ["source": "\(run.source.name)", "error": "\(run.shown(error))"])
        }
    }
}
