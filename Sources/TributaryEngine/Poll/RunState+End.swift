import FeedConfiguration
import FeedFetching
import FeedModel
import FeedStaging
import FeedStores
import Foundation
import Logging
import XMLStream

/// The record of a run, and the limits of its commit.
extension RunState {
    struct Ending {
        /// The error of a cancelled run.
        static let stopped = "stopped before the commit; the store is unchanged"

        var outcome: RunOutcome
        var error: String?
        /// The limits that a blocked run exceeded.
        var exceeded: [ExceededLimit] = []
        /// True if a blocked run had the same documents as the blocked run before it.
        var isBlockedAgain = false
    }

    /// Returns the ending of a run after an error. A cancelled task makes a cancelled run.
    mutating func ending(with error: any Error) -> Ending {
        if let wait = (error as? RunError)?.wait { hints.wait = wait }
        if Task.isCancelled || error is CancellationError {
            return Ending(outcome: .cancelled, error: Ending.stopped)
        }
        // A run whose changes the user has reviewed does not wait for a decision.
        let blocked = replay?.shown == nil ? (error as? StoreError).flatMap { $0.code == .blocked ? $0 : nil } : nil
        return Ending(
            outcome: blocked == nil ? .discarded : .blocked, error: shown(error), exceeded: blocked?.exceeded ?? [])
    }

    /// Returns an error's text without secrets, and without captured values, which may authenticate later requests.
    /// Captured addresses are not secret.
    func shown(_ error: any Error) -> String {
        let text = requests(of: error) + ErrorText.words(error)
        // Several mistakes have a line each, and a run's error has one.
        let line = text.split(separator: "\n").joined(separator: "; ")
        return environment.shown(captureRedactor?.redact(line) ?? line)
    }

    /// Removes the captured values; nil without any. An address among them is no secret.
    var captureRedactor: Redactor? {
        guard !captured.isEmpty else { return nil }
        let addresses = Set(source.requests.filter(\.url.isReference).flatMap(\.url.references))
        return Redactor(secrets: captured.filter { !addresses.contains(.capture($0.key)) }.values)
    }

    /// The most requests that an error names.
    private static let mostKeys = 5

    /// Returns the requests whose records the store refuses, as the beginning of a message; empty if they are unknown.
    private func requests(of error: any Error) -> String {
        let positions = (error as? StoreError)?.requests.filter(source.requests.indices.contains) ?? []
        guard !positions.isEmpty else { return "" }
        let keys = positions.prefix(Self.mostKeys).map { "'\(source.requests[$0].key)'" }
        let more = positions.count > keys.count ? " and \(positions.count - keys.count) more" : ""
        return (positions.count == 1 ? "request " : "requests ")
            + keys.joined(separator: positions.count == 2 ? " and " : ", ") + more + ": "
    }

    /// Records a run that has no rows to merge.
    ///
    /// - Parameters:
    ///   - window: the records with which it is written; nil to write it at once. The wait is no part of the run: it makes
    ///     neither its duration nor the time until the next one longer.
    ///   - endsClaim: true if the run does nothing more for which it needs its claim.
    ///   - recorded: called once the store has the run.
    func record(
        _ ending: Ending, in window: RecordWindow? = nil, endsClaim: Bool = false, recorded: () -> Void = {}
    ) async -> RunReport {
        let seconds = elapsed()
        await window?.end()
        var commit = commit(ending, endedBefore: window == nil ? 0 : elapsed() - seconds)
        commit.report.seconds = seconds
        commit.endsClaim = endsClaim
        do {
            try await environment.store.record(commit)
            environment.attempts.end(source.name)
            recorded()
        } catch {
            if ending.outcome == .discarded { environment.attempts.noteUnrecordedFailure(of: source.name) }
            // The caller still receives the report.
            environment.logger.error(
                "The run cannot be recorded", metadata: ["source": "\(source.name)", "error": "\(error)"])
        }
        return commit.report
    }

    /// Decides whether the source's permission to exceed its limits ends. A permission for a blocked run ends with the
    /// run that uses it, or that finds it outdated; one in advance ends with the next commit.
    private func useOfAcceptance(_ ending: Ending) -> Acceptance.Use {
        switch ending.outcome {
        case .committed: return .ends
        case .unchanged: return stored.isBlocked ? .endsForBlockedRun : .none
        case .discarded, .blocked:
            guard !isReplay, stored.isBlocked else { return .none }
            if ending.isBlockedAgain { return .movesToRun }
            // The permission may have been granted during this failed run.
            return ending.outcome == .blocked || kept != nil || unusable != nil ? .endsForBlockedRun : .none
        case .notDue, .cancelled: return .none
        }
    }

    /// - Parameter seconds: the time since the run has ended, by this clock: another may have been set meanwhile.
    func commit(_ ending: Ending, endedBefore seconds: Double = 0) -> Commit {
        let now = environment.clock.now() - seconds
        var next =
            isReplay || source.loadsGivenSpan
            ? DueTime.state(
                afterExtra: ending.outcome, readsAll: isReplay, source: source, last: stored, startedAt: startedAt,
                now: now)
            : DueTime.state(
                after: ending.outcome, error: ending.error, source: source, last: stored,
                startedAt: startedAt, now: now, hints: hints, jitter: environment.random.fraction())
        next.origin = source.askedOrigin
        // Expired rows are committed while the feed is still the undone one.
        next.undone = undone == nil && ending.outcome == .committed ? nil : stored.undone
        if let feed = UndoneFeed(next.undone) {
            next.note = [next.note, feed.note(source.name)].compactMap(\.self).joined(separator: "; ")
        }
        if ending.outcome == .committed, !notes.isEmpty {
            next.note = ([next.note].compactMap(\.self) + notes).joined(separator: "; ")
        }
        next.note = next.note.map(environment.shown)
        let isGood = ending.outcome.isGood
        // An unchanged state is written only if its request was parsed, because the commit must see the claims of the
        // new rows.
        let states =
            isGood
            ? results.filter { $0.report.outcome == .parsed || $0.state != known[$0.report.key] }.compactMap(\.state)
            : []
        let keys = Set(source.requests.map(\.key))
        let forgotten = isGood ? known.keys.filter { !keys.contains($0) } : []
        var report = report(ending)
        report.nextDue = next.nextDue
        report.failingSince = isGood ? stored.failingSince : next.failingSince
        var commit = Commit(
            report: report, requests: states, state: next, forgottenKeys: forgotten)
        commit.endsStaleness =
            source.freshWithin.map { stored.isStale(after: $0.seconds, now: now) } ?? false
        commit.changesClaims = states.contains { known[$0.key]?.hasClaims(of: $0) != true }
        commit.acceptance = useOfAcceptance(ending)
        for result in results
        where result.report.outcome == .unchanged && states.contains(where: { $0.key == result.report.key }) {
            commit.revalidated[result.report.key] = known[result.report.key]
        }
        if isGood { addListings(to: &commit) }
        if let wait = hints.wait, let end = wait.end {
            commit.busyHost = (wait.origin.description, end, max(0, end.timeIntervalSince(now)))
        }
        return commit
    }

    private func addListings(to commit: inout Commit) {
        for result in results where result.report.outcome == .parsed {
            guard let listing = result.documents.listing else { continue }
            let key = result.report.key
            if result.documents.areSome { commit.continued[key] = known[key] }
            var row: ListingRow?
            if let documents = listing.documents, let version = result.state?.validators.etag {
                row = ListingRow(source: source.name, key: key, version: version, documents: documents)
            }
            commit.listings.updateValue(row, forKey: key)
        }
    }

    func report(_ ending: Ending) -> RunReport {
        var report = RunReport(
            source: source.name, outcome: ending.outcome, startedAt: startedAt, seconds: elapsed(),
            skipped: skipped,
            bytes: results.reduce(0) { $0 + $1.report.bytes }, error: ending.error, requests: results.map(\.report))
        report.kind = isReplay ? .replay : nil
        report.drift = ending.outcome == .committed ? drift : []
        if ending.outcome == .committed {
            report.rejected = rejected
            report.rejection = rejection.map(environment.shown)
        }
        var remarks = ending.outcome == .committed ? notes : []
        if ending.outcome.isGood {
            // The commit of the rows has them, and precedes the action.
            for (index, text) in fileNotes() {
                report.requests[index].add(text)
                remarks.append("request '\(results[index].report.key)': \(text)")
            }
        }
        if !remarks.isEmpty { report.note = environment.shown(remarks.joined(separator: "; ")) }
        if ending.outcome == .unchanged, let undone { report.note = undone.noteOnRun(source.name) }
        return report
    }

    // MARK: - What is said of bodies

    /// The most remarks on the documents of a request and of a run, and the most characters of one: servers choose names in
    /// them.
    private static let (mostRemarks, mostRemarksOfRun, longestRemark) = (5, 50, 1_000)

    /// Notes a remark on a request's documents, once.
    mutating func note(_ remark: String, _ index: Int) {
        let remark = remark.shortened(to: Self.longestRemark)
        let known = results[index].documents.remarks
        guard known.count < Self.mostRemarks, !known.contains(remark),
            results.reduce(0, { $0 + $1.documents.remarks.count }) < Self.mostRemarksOfRun
        else { return }
        results[index].documents.remarks.append(remark)
    }

    /// The remarks on documents, for the run's note.
    var remarkNotes: [String] {
        results.flatMap { result in
            result.documents.remarks.map { "request '\(result.report.key)': \($0)" }
        }
    }

    /// Adds the remarks on documents to the reports of their requests.
    mutating func reportRemarks() {
        for index in results.indices {
            let documents = results[index].documents
            let remarks = documents.remarks + [documents.listing?.note].compactMap(\.self)
            guard !remarks.isEmpty else { continue }
            results[index].report.note = environment.shown(remarks.joined(separator: "; "))
        }
    }

    /// The remarks on folders of which only the changed documents were read, for a plan.
    var listingNotes: [String] {
        results.compactMap { result in
            result.documents.listing?.note.map { "request '\(result.report.key)': \($0)" }
        }
    }

    /// Compares the shapes of the documents with the stored ones of the same declaration, and notes the new shapes.
    mutating func noteDrift() throws {
        drift = []
        for index in results.indices where results[index].report.outcome == .parsed {
            // A name may be a secret that the server sends back.
            guard var document = results[index].documents.shape?.mappingPaths(environment.redacted) else { continue }
            let pages = results[index].documents.pages?.count
            let former = known[source.requests[index].key]
            guard former?.fingerprint == results[index].state?.fingerprint,
                var shape = former?.shape.flatMap(RequestShape.init(text:))
            else {
                var shape = RequestShape(first: document)
                shape.pages = pages
                results[index].state?.shape = try shape.text
                noteColumns(without: document.empty, index)
                noteRepetition(index)
                continue
            }
            // The documents that were left out may have values.
            if results[index].documents.areSome { document.empty = [] }
            notePages(after: shape.pages, index)
            // Kept bodies are read without the requests for their pages.
            shape.pages = pages ?? shape.pages
            if let found = shape.take(document, of: source.requests[index].key) { drift.append(found) }
            results[index].state?.shape = try shape.text
        }
    }

    /// The changed forms that block the commit (`drift`).
    var blockingDrift: [ExceededLimit] {
        drift.compactMap { found in
            guard source.requests.first(where: { $0.key == found.request })?.drift == .block else { return nil }
            let expectation = "\(found.request)\n\(found.unmapped)\n\(found.empty)\n\(found.repeated)"
            return ExceededLimit(expectation: expectation, found.text)
        }
    }

    /// Notes the columns for which the first documents of a declaration have no value: their paths may be wrong.
    private mutating func noteColumns(without columns: Set<String>, _ index: Int) {
        guard !columns.isEmpty else { return }
        note("no record has a value for \(Self.names(columns)); correct the path if the feed has such values", index)
    }

    /// Notes the columns that take the first of several values of a record.
    mutating func noteRepetition(_ index: Int) {
        guard let columns = results[index].documents.shape?.repeated, !columns.isEmpty else { return }
        note(
            "the first value of a record counts for \(Self.names(columns)), and some records have several; map a table "
                + "of their own, or set repeat = \"join\", if you need all",
            index)
    }

    private static func names(_ columns: Set<String>) -> String {
        let names = columns.sorted().prefix(Drift.mostNames).joined(separator: ", ")
        return names + (columns.count > Drift.mostNames ? " and \(columns.count - Drift.mostNames) more" : "")
    }

    /// Notes that there is one page now, and there were several: the place that leads to the next one may have been renamed.
    ///
    /// - Parameter former: the number of pages of the last commit.
    private mutating func notePages(after former: Int?, _ index: Int) {
        guard let former, former > 1, let read = results[index].documents.pages, read.count == 1, read.endsWithoutMark,
            let (key, written) = source.requests[index].paging.flatMap(FurtherPage.path)
        else { return }
        note(
            "the only page has no '\(written)', and the last commit had \(former) pages; correct \(key), unless the list is "
                + "shorter now",
            index)
    }

    var repairNotes: [String] {
        results.compactMap { result in
            let faults = XMLRepair.Fault.allCases.compactMap { fault -> String? in
                guard let count = result.documents.repairs[fault], count > 0 else { return nil }
                return switch fault {
                case .characters: "\(count) × a character that XML forbids"
                case .entities: "\(count) × an entity of HTML's"
                case .ampersands: "\(count) × a bare '&' or '<'"
                }
            }
            guard !faults.isEmpty else { return nil }
            return "request '\(result.report.key)' was repaired: \(faults.joined(separator: ", "))"
        }
    }

    // MARK: - Items that were left out

    var leftOutNotes: [String] { results.compactMap { $0.leftOut?.note(of: $0.report.key) } }

    /// Returns true if items were omitted of a request, or of an earlier one whose staged rows it may use.
    func lacksItems(_ index: Int) -> Bool {
        results[index].leftOut != nil
            || source.requests[index].forEach != nil && results[..<index].contains { $0.leftOut != nil }
    }

    /// The omitted items, as records with unknown rows: no row is deleted from the tables of their requests, nor from
    /// those of later `for_each` requests.
    var skippedRecords: [SkippedRecords] {
        source.requests.indices.filter(lacksItems).flatMap { index in
            let items = results[...index].reduce(0) { $0 + ($1.leftOut?.count ?? 0) }
            return (results[index].state?.tables ?? []).sorted()
                .filter { table in source.requests.contains { $0.deletesRows(of: table) } }
                .map { SkippedRecords(table: $0, scope: source.requests[index].scope, items: items) }
        }
    }

    // MARK: - What a commit may do

    private var parsed: [Int] { source.requests.indices.filter { results[$0].report.outcome == .parsed } }

    var isParsed: Bool { results.contains { $0.report.outcome == .parsed } }

    /// True once a request has given rows or captured values, such as the number of a submitted job. A discarded run loses
    /// them.
    var hasRowsOrCaptures: Bool { results.contains { [.parsed, .captured].contains($0.report.outcome) } }

    /// The tables that the stack's changed requests mirror, with or without rows.
    var mirrors: [MirroredRows] {
        parsed.flatMap { index in
            let request = source.requests[index]
            return (results[index].state?.tables ?? []).sorted().filter(request.mirrors)
                .map { MirroredRows(table: $0, scope: request.scope, window: request.window(of: $0)) }
        }
    }

    /// The change limits of the changed requests' tables.
    var limits: [ScopedRows: ChangeLimits] {
        parsed.reduce(into: [:]) { limits, index in
            let request = source.requests[index]
            for table in results[index].state?.tables ?? [] {
                let rows = ScopedRows(table: table, scope: request.scope)
                var own = request.limits(of: table)
                own.allowsEmpty = own.allowsEmpty && results[index].isEmpty && limits[rows]?.allowsEmpty ?? true
                limits[rows] = own
            }
        }
    }

    /// The rules for rows that left the feeds, or that are too old.
    var retention: Retention {
        var retention = source.retention(at: environment.clock.now()) { request in
            let state = results.first { $0.report.key == request.key }?.state ?? known[request.key]
            return state?.tables ?? []
        }
        retention.allMarks = environment.configuration.deletionMarks
        return retention
    }

    var checkMirrors: Commit.MirrorCheck {
        { [source, configuration = environment.configuration] rows, others, comparison in
            try StackDecision.checkMirror(
                of: rows, by: source, others: others, comparedBy: comparison, configuration: configuration)
        }
    }
}
