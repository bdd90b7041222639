package import FeedConfiguration
package import FeedModel
package import FeedParsing
package import FeedStores
package import Foundation

/// Migration of a source's tables to its current declaration.
extension SourceDeclaration {
    /// The schemas that the source's mappings give their tables.
    package var schemas: [TableSchema] { requests.flatMap(\.schemas) }

    /// Changes the source's tables to their declaration, while no source that writes them runs. Those sources are then
    /// due.
    ///
    /// - Returns: the changes.
    /// - Throws: ``StoreError`` if a source runs, or a table cannot be changed; nothing has changed then.
    package func migrate(
        _ store: any MainStore, in configuration: TributaryConfiguration, parsers: ParserRegistry, at now: Date
    ) throws -> [TableMigration] {
        let tables = Set(schemas.map { $0.name.lowercased() })
        let writers = configuration.sources.filter { source in
            source.name == name
                || source.requests.contains { request in
                    parsers.tables(of: request.content).contains { tables.contains($0.lowercased()) }
                }
        }
        var claims: [any SourceClaim] = []
        defer { for claim in claims { claim.unlock() } }
        for writer in writers.sorted(by: { $0.name < $1.name }) {
            guard let claim = try store.claim(writer.name) else {
                throw StoreError(
                    .conflict, "the source '\(writer.name)' is running; try again when its run has ended")
            }
            claims.append(claim)
        }
        let done = try store.migrate(to: schemas)
        if !done.isEmpty { try store.write { try $0.sources.makeDue(writers.map(\.name), now: now) } }
        return done
    }
}
