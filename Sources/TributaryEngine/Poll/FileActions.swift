import FeedConfiguration
import FeedFetching
import FeedModel

/// Deletes or moves the files whose rows the store has (`after_commit`).
///
/// No list of such files is kept: the store has the validators of the files whose rows it has, in the transaction of these
/// rows. If a process dies between the commit and the action, the next run finds the files unchanged, and acts on them. If
/// there are new files as well, that run commits all files, and acts on all of them.
struct FileActions {
    let environment: RunEnvironment
    let permits: RunPermits

    /// Returns true if ``finish(_:)`` may have something to do.
    func concern(_ run: RunState) -> Bool { !run.finishedFiles.isEmpty }

    /// Acts on the files of a run that has committed, or found everything unchanged.
    ///
    /// - Throws: ``RunError`` for the first file that stays; `CancellationError`.
    func finish(_ run: RunState) async throws {
        for (index, files) in run.finishedFiles { try await finish(files, of: run.source.requests[index]) }
    }

    private func finish(_ files: SourceFiles, of request: RequestDeclaration) async throws {
        do {
            try Task.checkCancellation()
            let clock = environment.exchangeClock()
            let permit = try await clock.pausing { try await permits.permit(at: files.origin) }
            defer { permit.release() }
            try await clock.limiting(request, by: environment.clock) {
                try await files.finish(ExchangeContext(permit, clock))
            }
        } catch {
            if Task.isCancelled { throw CancellationError() }
            throw RunError(error, in: request)
        }
    }
}

extension RunState {
    /// The files on which the run acts if it commits, or finds everything unchanged, by the positions of their requests. Those
    /// of an undone feed stay: their rows are not in the store.
    var finishedFiles: [(index: Int, files: SourceFiles)] {
        guard undone == nil else { return [] }
        return results.enumerated().compactMap { index, result in
            guard let files = result.files, files.hasAction, [.parsed, .unchanged].contains(result.report.outcome)
            else { return nil }
            return (index, files)
        }
    }

    /// Returns what the run does with the files of its requests, by the positions of these.
    ///
    /// - Parameter isPlanned: true for a plan.
    func fileNotes(isPlanned: Bool = false) -> [(index: Int, text: String)] {
        finishedFiles.compactMap { index, files in
            files.note(isPlanned: isPlanned).map { (index, environment.shown($0)) }
        }
    }
}
