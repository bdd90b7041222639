import FeedConfiguration
import FeedModel
import FeedStores

/// Finds the kept bodies for a replay.
extension RunState {
    private var bodies: BodyFolder { environment.bodies }

    /// True if bodies are kept, or were kept before the declaration changed.
    var hasBodies: Bool { source.keepsBodies || known.values.contains { !$0.bodies.isEmpty } }

    /// True if there may be kept bodies of the source, or of a blocked run of it.
    var mayHaveBodies: Bool { hasBodies || bodies.exists(of: source.name) }

    /// Returns true if a request may be conditional, because its body is kept already.
    func hasKeptBody(_ index: Int) -> Bool {
        let request = source.requests[index]
        return !request.keepsBodies || bodies.has(known[request.key]?.bodies.first, of: source.name)
    }

    /// Returns the last kept bodies of all requests.
    ///
    /// - Throws: ``StackError`` with the requests without a kept body, and what to do.
    func lastBodies(of replay: Replay) throws -> KeptStack {
        guard stored.undone == nil else {
            throw StackError(
                "the source was undone to an earlier run, and its last kept bodies are the undone ones; "
                    + "`tributary resume \(source.name)` continues from them")
        }
        let requests = source.requests.filter { $0.content != .captures }
        let missing = requests.filter { !bodies.has(known[$0.key]?.bodies.first, of: source.name) }
        guard missing.isEmpty else {
            let names = missing.map { "'\($0.key)'" }.joined(separator: ", ")
            let advice =
                missing.allSatisfy(\.keepsBodies)
                ? "`tributary sync \(source.name) --full` fetches and keeps them"
                : "set keep_bodies = 1 for the source, and `tributary sync \(source.name) --full` fetches and keeps them"
            throw StackError(
                "no body of request \(names) is kept in \(bodies.folder(of: source.name)), so there is nothing to replay; "
                    + advice)
        }
        if let appended = requests.first(where: \.appends) {
            throw StackError(
                "request '\(appended.key)' appends its rows (sync = \"append\"), so a replay would insert them again"
            )
        }
        return KeptStack(
            names: requests.reduce(into: [:]) { names, request in
                let kept = known[request.key]?.bodies.filter { bodies.has($0, of: source.name) } ?? []
                // If rows are deleted, rows that only an older body has are gone.
                names[request.key] = replay.readsAll && !request.deletesRows ? kept.reversed() : Array(kept.prefix(1))
            })
    }

    /// Returns a digest of these bodies and their declaration.
    func basis(of kept: KeptStack) -> ChangeDigest {
        var basis = ChangeDigest()
        basis.add(source.identity)
        for (key, names) in kept.names { basis.add(([key] + names).joined(separator: "\u{0}")) }
        return basis
    }

    /// - Throws: ``StoreError`` if the bodies or the declaration of a replay have changed since its changes were shown.
    func check(_ kept: KeptStack, areThoseOf replay: Replay) throws {
        guard let shown = replay.shown, shown.basis != basis(of: kept) else { return }
        throw StoreError(
            .history,
            "the kept bodies or the declaration have changed since the changes were shown; nothing was changed")
    }

    /// Returns the documents of the source's accepted blocked run.
    ///
    /// - Returns: no documents, and the reason, if they cannot be committed any more. The run then continues without them.
    func acceptedBodies() throws -> (kept: KeptStack?, unusable: String?) {
        guard stored.isBlocked,
            let run = try environment.store.read({ try $0.acceptances.acceptance(of: source.name, at: startedAt) })?.run
        else {
            return (nil, nil)
        }
        guard try environment.store.read({ try $0.runs.blocked(of: source.name) })?.number == run,
            let recorded = try environment.store.read({ try $0.runs.run(run) }),
            let blocked = bodies.blockedRun(of: source.name), blocked.isRecorded(as: recorded), try isWhole(blocked)
        else {
            let why =
                "run \(run) was accepted, and its documents are no longer kept in \(bodies.folder(of: source.name)), so "
                + "that others were fetched"
            return (nil, why)
        }
        guard blocked.declared == source.identity else {
            let why =
                "run \(run) was accepted, and the source has a changed declaration since, so that other documents "
                + "were fetched"
            return (nil, why)
        }
        let names = blocked.requests.reduce(into: [:]) { names, request in
            names[request.key] = request.bodies.map { [$0] }
        }
        return (KeptStack(names: names, blocked: blocked), nil)
    }

    /// Returns true if the documents of all requests exist: their bodies, or the rows of unchanged ones.
    private func isWhole(_ run: BlockedRun) throws -> Bool {
        guard run.requests.map(\.key) == source.requests.map(\.key) else { return run.declared != source.identity }
        return try zip(run.requests, source.requests).allSatisfy { request, declared in
            if let name = request.bodies { return bodies.has(name, of: source.name) }
            if declared.content == .captures { return true }
            guard let known = known[request.key] else { return false }
            return try known.fingerprint == fingerprint(declared) && (!known.validators.isEmpty || known.digest != nil)
        }
    }
}

/// A run that reads the last kept bodies instead of responses.
struct Replay: Sendable {
    /// The reviewed changes. Exactly these are made, regardless of limits.
    struct Shown: Sendable {
        var changes: ChangeDigest
        /// The bodies and the declaration from which they follow.
        var basis: ChangeDigest
    }

    /// True to read all kept bodies of requests that delete no rows, the oldest first.
    var readsAll: Bool
    /// nil without a review.
    var shown: Shown?
}
