import FeedModel
import Foundation
import TributaryEngine

/// The lines of runs that have ended, for people.
enum RunLines {
    /// Returns the line of a run. Where the terminal is too narrow, what follows the outcome is on lines of its own. With
    /// `--verbose`, each request has a line, too.
    static func lines(_ report: RunReport, nameWidth: Int, on terminal: Terminal) -> [TerminalLine] {
        let columns = terminal.size?.columns ?? .max
        let width = min(nameWidth, max(columns / 3, 20))
        let name = report.source.fitted(to: width)
        let waits = report.outcome == .notDue && report.error != nil
        let word = waits ? "waiting" : Figures.word(report.outcome)
        let outcome = terminal.colored(word.padded(to: 9), waits ? .yellow : Figures.color(report.outcome))
        let summary = Figures.summary(report, now: Date())
        let isWide = width + 13 + summary.escapedForTerminal().displayWidth > columns
        let lines: [TerminalLine] =
            isWide
            ? ["\(name)  \(outcome)"] + terminal.wrapped(summary, indent: 4) : ["\(name)  \(outcome)  \(summary)"]
        return lines + requests(report.requests)
    }

    /// Returns a line for each request with `--verbose`; none without.
    static func requests(_ requests: [RequestReport]) -> [TerminalLine] {
        guard Terminal.isVerbose else { return [] }
        return requests.map { request in
            let status = request.status.map { " (\($0))" } ?? ""
            return
                "    request \(request.key): \(request.outcome.rawValue)\(status), \(Figures.bytes(request.bytes)) in \(Figures.seconds(request.seconds))"
        }
    }

    /// Returns a line on several runs: how many ended how, and the rows that they changed.
    static func summary(_ reports: [RunReport]) -> String {
        let waiting = reports.count { $0.outcome == .notDue && $0.error != nil }
        let ends: [(count: Int, word: String)] =
            [RunOutcome.committed, .unchanged, .notDue, .discarded, .blocked, .cancelled].map { outcome in
                (reports.count { $0.outcome == outcome } - (outcome == .notDue ? waiting : 0), Figures.word(outcome))
            } + [(waiting, "waiting")]
        let outcomes = ends.filter { $0.count > 0 }.map { "\($0.count) \($0.word)" }.joined(separator: ", ")
        let changed = reports.reduce(into: MergeCounts()) { $0 += $1.counts }.changedWords
        return "\(Figures.count(reports.count, "source")): \(outcomes)"
            + (changed.isEmpty ? "" : "; rows: \(changed)")
    }
}

extension MergeCounts {
    /// The numbers of changed rows, such as `31 inserted, 2 updated`; empty without any.
    var changedWords: String {
        [(inserted, "inserted"), (updated, "updated"), (deleted, "deleted")]
            .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    }
}
