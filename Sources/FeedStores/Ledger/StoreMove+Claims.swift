import FeedModel

/// What must stand still while a store's content moves.
extension StoreMove {
    /// Takes the right to run each source that there is, so that no run changes the store.
    ///
    /// - Parameter declared: the sources that may run for the first time.
    /// - Throws: ``StoreError`` naming the daemons and the sources that run.
    package static func claim(_ store: any MainStore, declared: Set<String>) throws -> [any SourceClaim] {
        try checkDaemons(of: store)
        return try .all(of: declared.union(store.read { try $0.sources.all() }.keys), on: store.name, store.claim)
    }

    /// Checks that a store may receive another one's content.
    ///
    /// - Throws: ``StoreError`` if the two are one, where something runs on it, or where it has recorded runs.
    package static func check(_ new: any MainStore, asTargetOf old: any MainStore) throws {
        guard try new.identity() != old.identity() else {
            throw StoreError(.conflict, "\(new.name) is the store that is declared; move to another one")
        }
        try checkDaemons(of: new)
        guard try new.read({ try $0.runs.last(limit: 1) }).isEmpty else {
            throw StoreError(
                .conflict,
                "the store \(new.name) has recorded runs of its own, in tributary_run; move to a new store")
        }
    }

    private static func checkDaemons(of store: any MainStore) throws {
        guard let shared = store as? any SharedStore else { return }
        let daemons = try shared.daemons().map(\.name)
        guard daemons.isEmpty else {
            throw StoreError(
                .conflict, "daemons run on \(store.name): \(daemons.joined(separator: ", ")); stop them first")
        }
        let running = try shared.runners().keys.sorted()
        guard running.isEmpty else { throw running.isRun(on: store.name) }
    }
}

extension [any SourceClaim] {
    /// Takes the right to run each of some sources of a store, or none.
    ///
    /// - Parameter claim: takes the right to run one of them; nil while it is run.
    /// - Throws: ``StoreError`` naming the sources that run.
    package static func all(
        of sources: Set<String>, on store: String, _ claim: (String) throws -> (any SourceClaim)?
    ) throws -> [any SourceClaim] {
        var claims: [any SourceClaim] = []
        var running: [String] = []
        do {
            for source in sources.sorted() {
                if let claim = try claim(source) { claims.append(claim) } else { running.append(source) }
            }
            guard running.isEmpty else { throw running.isRun(on: store) }
        } catch {
            for claim in claims { claim.unlock() }
            throw error
        }
        return claims
    }
}

extension [String] {
    /// The error for sources that run.
    fileprivate func isRun(on store: String) -> StoreError {
        StoreError(
            .conflict,
            "sources are running on \(store): \(joined(separator: ", ")); wait for the end of their runs, or "
                + "stop the process that runs them")
    }
}
