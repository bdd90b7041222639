import FeedDeclarations
import FeedModel
import FeedStaging
import FeedStores

/// Shows what a run would do.
extension StackRun {
    /// Does everything but the commit.
    ///
    /// - Parameters:
    ///   - bodies: files to read instead of the requests' responses, by the requests' keys.
    ///   - known: the states of the requests, where they are not in the store, which may be a copy of its tables.
    ///   - onChange: called with each change.
    /// - Throws: the error for which a run would be discarded.
    func plan(
        bodies: [String: String], replaying known: [String: RequestState]? = nil,
        onChange: @escaping @Sendable (PlannedChange) throws -> Void
    ) async throws -> StackPlan {
        let lock = try await claim()
        defer { lock.unlock() }
        notesUnused = true
        do {
            return try await planClaimed(bodies: bodies, known: known, onChange: onChange)
        } catch var error as StoreError {
            if error.code == .held { error.message += "; a run would be blocked by that" }
            throw error
        } catch {
            throw ShownError(description: shown(error))
        }
    }

    /// An error whose text may be shown.
    struct ShownError: Error, CustomStringConvertible {
        var description: String
    }

    private func planClaimed(
        bodies: [String: String], known states: [String: RequestState]?,
        onChange: @escaping @Sendable (PlannedChange) throws -> Void
    ) async throws -> StackPlan {
        results = source.requests.map { RequestResult(key: $0.key) }
        known = try states ?? environment.store.states(of: source.name).requests
        defer { context?.remove() }
        for (key, path) in bodies {
            guard let index = source.requests.firstIndex(where: { $0.key == key }) else { continue }
            source.requests[index].url = InterpolatedText(path)
            source.requests[index].method = "GET"
            source.requests[index].parameters = [:]
            source.requests[index].headers = [:]
            source.requests[index].body = nil
            source.requests[index].paging = nil
            source.requests[index].forEach = nil
            known[key] = nil
        }
        if isReplay { kept = try lastBodies() }
        try await sendRequests()
        var plan = StackPlan()
        plan.requests = results.map(\.report)
        plan.elements = unmatched.elements
        plan.columns = unmatched.columns
        let retention = retention
        guard try context != nil || hasExpiredRows(retention) else { return plan }
        let stack = try context?.finish() ?? StagedStack.empty
        plan.notes = stack.skipped.compactMap(\.note)
        plan.counts = try environment.store.plan(
            stack, mirrors: mirrors, checkMirrors: checkMirrors, limits: limits, retention: retention,
            source: source.name, onChange: onChange)
        plan.skipped = (context?.skippedRows ?? 0) + plan.counts.skipped
        return plan
    }
}
