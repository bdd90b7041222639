package import FeedConfiguration
import FeedFetching
package import FeedModel
package import FeedStores
import Foundation
import Logging

/// A change of a source's rows that a user reviews before it is made.
package enum Correction: Sendable, Equatable {
    /// Restores the rows of an earlier run.
    case undo(UndoRun.Target)
    /// Reads the kept bodies again; all of them, or the last ones.
    case replay(all: Bool)
    /// Deletes the rows that only this source wrote, and its state.
    case purge
}

/// The changes of a correction, and the digest that applies exactly these.
package struct CorrectionPlan: Sendable {
    package enum Content: Sendable {
        /// The stack is a replay's.
        case rows(ChangeReview, StackPlan?)
        case purge(PurgeReport)
    }

    package var counts: MergeCounts
    package var content: Content
    package var digest: String
}

/// Plans and corrections in a running service. They wait for runs of the source.
extension SyncService {
    /// Runs a source without the commit.
    ///
    /// - Parameter ignoresValidators: true to fetch in full.
    /// - Throws: ``Refusal``, also if the run would be discarded; `StoreError`; `CancellationError`.
    package func plan(
        _ source: SourceDeclaration, ignoresValidators: Bool
    ) async throws -> (stack: StackPlan, review: ChangeReview) {
        environment.http.begin(source.requests)
        defer { environment.http.end(source.requests) }
        return try await planning { environment in
            try await plan(source, StackRun(source, in: environment, mode: ignoresValidators ? .full : .force))
        }
    }

    /// Returns the changes that a correction would make.
    ///
    /// - Throws: as ``plan(_:ignoresValidators:)``.
    package func plan(_ correction: Correction, of source: String) async throws -> CorrectionPlan {
        try await planning { environment in
            switch correction {
            case .undo(let target):
                let undo = undo(source, to: target, environment)
                let last = try await undo.lastCommit()
                let reviewer = Mutex(ChangeReviewer())
                let counts = try await undo.plan { change in reviewer.withLock { $0.add(change) } }
                let review = reviewer.withLock {
                    $0.review(of: environment.clock.now(), unchanged: counts.unchanged)
                }
                return CorrectionPlan(
                    counts: counts, content: .rows(review, nil), digest: "\(last)~\(review.digest.text)")
            case .replay(let all):
                let declaration = try declared(source, environment)
                let run = StackRun(declaration, in: environment, mode: .force, replay: Replay(readsAll: all))
                let (stack, review) = try await plan(declaration, run)
                let basis = stack.basis?.text ?? ""
                return CorrectionPlan(
                    counts: stack.counts, content: .rows(review, stack), digest: "\(review.digest.text)~\(basis)")
            case .purge:
                return try await environment.threads.run {
                    let report = try self.purge(source, environment, shown: nil)
                    return CorrectionPlan(
                        counts: report.run.counts, content: .purge(report), digest: report.digest.text)
                }
            }
        }
    }

    /// Makes exactly the changes of a plan.
    ///
    /// - Parameter digest: the digest of the plan.
    /// - Returns: the report of the recorded run.
    /// - Throws: as ``plan(_:ignoresValidators:)``; nothing has changed then.
    package func apply(_ correction: Correction, of source: String, shown digest: String) async throws -> RunReport {
        let malformed = Refusal("'\(digest)' is not the digest of a preview")
        let parts = digest.split(separator: "~", omittingEmptySubsequences: false)
        guard let last = parts.last else { throw malformed }
        return try await planning { environment in
            let report: RunReport
            switch correction {
            case .undo(let target):
                guard let commit = Int64(parts[0]), let changes = ChangeDigest(last) else { throw malformed }
                report = try await undo(source, to: target, environment).run(shown: commit, changes: changes)
            case .replay(let all):
                guard let changes = ChangeDigest(parts[0]), let basis = ChangeDigest(last) else { throw malformed }
                let replay = Replay(readsAll: all, shown: Replay.Shown(changes: changes, basis: basis))
                let declaration = try declared(source, environment)
                report = await StackRun(declaration, in: environment, mode: .force, replay: replay).run()
            case .purge:
                guard let shown = ChangeDigest(last) else { throw malformed }
                report = try await environment.threads.run { try self.purge(source, environment, shown: shown).run }
            }
            onReport(report)
            guard report.outcome == .committed || report.outcome == .unchanged else {
                throw Refusal(report.error ?? "the run was \(report.outcome.rawValue)")
            }
            return report
        }
    }

    // MARK: - Steps

    private func plan(_ source: SourceDeclaration, _ run: StackRun) async throws -> (StackPlan, ChangeReview) {
        try await environment.threads.run { [environment] in
            let registry = environment.registry
            let isPrepared = try source.requests.allSatisfy {
                try $0.isPrepared(in: environment.store, parsers: registry)
            }
            guard isPrepared else {
                throw Refusal(
                    "tables or columns of source '\(source.name)' do not exist yet; its first run creates "
                        + "them, and `tributary plan \(source.name)` shows its changes before that")
            }
        }
        let reviewer = Mutex(ChangeReviewer())
        let stack = try await run.plan(bodies: [:]) { change in reviewer.withLock { $0.add(change) } }
        let review = reviewer.withLock {
            $0.review(of: environment.clock.now(), unchanged: stack.counts.unchanged)
        }
        return (stack, review)
    }

    private func declared(_ source: String, _ environment: RunEnvironment) throws -> SourceDeclaration {
        guard let declaration = environment.configuration[source: source] else {
            throw Refusal("there is no source '\(source)' in the configuration")
        }
        return declaration
    }

    private func undo(_ source: String, to target: UndoRun.Target, _ environment: RunEnvironment) -> UndoRun {
        UndoRun(
            source, to: target, in: environment.store, declaration: environment.configuration[source: source],
            parsers: environment.registry,
            keys: DeclaredKeys(environment.configuration, parsers: environment.registry), clock: environment.clock,
            threads: environment.threads)
    }

    /// Blocks its thread.
    ///
    /// - Parameter shown: the digest of the reviewed changes; nil for a dry run.
    private func purge(_ source: String, _ environment: RunEnvironment, shown: ChangeDigest?) throws -> PurgeReport {
        guard let claim = try environment.store.claim(source) else {
            throw Refusal("\(source) is running; wait for the end of the run", isBusy: true)
        }
        defer { claim.unlock() }
        var purge = try environment.configuration.purge(
            of: source, in: environment.store, parsers: environment.registry, now: environment.clock.now())
        purge.shown = shown
        let report = try environment.store.purge(purge, isTrial: shown == nil)
        guard shown != nil else { return report }
        let left = environment.configuration.removeBodies(of: source)
        if !left.isEmpty {
            environment.logger.warning(
                "Bodies of a purged source cannot be removed",
                metadata: ["source": "\(source)", "files": "\(left.joined(separator: ", "))"])
        }
        return report
    }

    /// Runs a body with the current configuration, within the limit of concurrent plans.
    private func planning<Value: Sendable>(
        _ body: (RunEnvironment) async throws -> Value
    ) async throws -> Value {
        guard planning.acquire() else {
            throw Refusal("two plans are in progress; try again in a moment", isBusy: true)
        }
        defer { planning.release() }
        var environment = environment.with(configuration)
        // Somebody waits for it, so it does not wait for the runs' slots.
        environment.slots = Slots(limit: 1)
        do {
            return try await body(environment)
        } catch let error as StoreError where [.unavailable, .database, .replaced].contains(error.code) {
            throw error
        } catch let error where error is Refusal || error is CancellationError {
            throw error
        } catch {
            throw Refusal(environment.shown(ErrorText.words(error)))
        }
    }
}
