import FeedConfiguration
import FeedModel
import FeedParsing
import FeedStores
import Logging

/// The tables and columns that were made for a run before its commit.
final class AdditionLog: Sendable {
    private let additions = Mutex<[SchemaAddition]>([])

    var all: [SchemaAddition] { additions.withLock { $0 } }

    func note(_ made: [SchemaAddition]) { additions.withLock { $0 += made } }
}

/// The tables and columns that a start has made for the sources' first runs, by the names of the sources.
final class StartAdditions: Sendable {
    private let additions: Mutex<[String: [SchemaAddition]]>

    init(_ additions: [String: [SchemaAddition]] = [:]) { self.additions = Mutex(additions) }

    /// Removes and returns the additions of a source.
    func take(of source: String) -> [SchemaAddition] { additions.withLock { $0.removeValue(forKey: source) } ?? [] }
}

extension RunState {
    /// Removes the tables and columns that were made for the run, because it commits nothing. Those that a run of
    /// another source may use by now stay. Blocks its thread.
    func removeAdditions() {
        let made = additions.all
        guard !made.isEmpty else { return }
        let tables = Set(made.map { $0.table.lowercased() })
        var claims: [any SourceClaim] = []
        defer { for claim in claims { claim.unlock() } }
        do {
            for other in environment.configuration.sources where other.name != source.name {
                let written = other.requests.flatMap { environment.registry.tables(of: $0.content) }
                guard written.contains(where: { tables.contains($0.lowercased()) }) else { continue }
                guard let claim = try environment.store.claim(other.name) else { return }
                claims.append(claim)
            }
            try environment.store.remove(made)
        } catch {
            environment.logger.warning(
                "The tables that a run has made cannot be removed again",
                metadata: ["source": "\(source.name)", "error": "\(shown(error))"])
        }
    }
}
