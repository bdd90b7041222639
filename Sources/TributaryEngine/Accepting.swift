import FeedModel
package import FeedStores
package import Foundation

/// The reason why a source cannot be accepted, and what to do instead.
package struct AcceptanceRefusal: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

extension MainStore {
    /// Lets sources exceed their limits once: by the documents of their blocked runs, or by whatever their next commits
    /// bring. Blocks its thread.
    ///
    /// - Parameters:
    ///   - inAdvance: true for sources that are not blocked.
    ///   - run: the blocked run that was shown to whoever accepts it; nil for the one that is blocked now.
    /// - Returns: the permissions, in the order of the sources.
    /// - Throws: ``AcceptanceRefusal`` where one of the sources does not allow it, and nothing has changed then;
    ///   `StoreError`.
    package func accept(
        _ sources: [String], inAdvance: Bool = false, run: Int64? = nil, at now: Date
    ) throws -> [Acceptance] {
        let acceptances = try acceptances(of: sources, inAdvance: inAdvance, run: run, at: now)
        try accept(acceptances)
        return acceptances
    }

    /// Returns the permissions that ``accept(_:inAdvance:run:at:)`` would give, and gives none.
    package func acceptances(
        of sources: [String], inAdvance: Bool = false, run: Int64? = nil, at now: Date
    ) throws -> [Acceptance] {
        try sources.map { source in
            let blocked = try blockedRun(of: source)?.number
            if let run, run != blocked {
                throw AcceptanceRefusal(
                    "run \(run) of source '\(source)' no longer waits to be accepted"
                        + (blocked.map { "; run \($0) does" } ?? ""))
            }
            switch (blocked, inAdvance) {
            case (nil, false):
                throw AcceptanceRefusal(
                    "source '\(source)' is not blocked, so there is nothing to accept; "
                        + "`tributary accept --in-advance \(source)` lets its next commit delete and change any number of rows"
                )
            case (let blocked?, true):
                throw AcceptanceRefusal(
                    "run \(blocked) of source '\(source)' is blocked; `tributary accept \(source)` commits its documents"
                )
            default:
                return Acceptance(source: source, run: blocked, from: now)
            }
        }
    }
}
