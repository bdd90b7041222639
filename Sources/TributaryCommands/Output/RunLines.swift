import FeedModel
import Foundation
import TributaryEngine

/// The lines of runs that have ended, for people.
enum RunLines {
    /// Returns the line of a run; with `--verbose`, one for each request, too.
    static func lines(_ report: RunReport, nameWidth: Int, on terminal: Terminal) -> [TerminalLine] {
        let name = report.source.padded(to: nameWidth)
        let waits = report.outcome == .notDue && report.error != nil
        let word = waits ? "waiting" : Figures.word(report.outcome)
        let outcome = word.padded(to: 9)
        let line: TerminalLine =
            "\(name)  \(terminal.colored(outcome, waits ? .yellow : Figures.color(report.outcome)))  \(Figures.summary(report, now: Date()))"
        return [line] + requests(report.requests)
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
        let rows = [
            (reports.reduce(0) { $0 + $1.counts.inserted }, "inserted"),
            (reports.reduce(0) { $0 + $1.counts.updated }, "updated"),
            (reports.reduce(0) { $0 + $1.counts.deleted }, "deleted"),
        ]
        func list(_ parts: [(count: Int, word: String)]) -> String {
            parts.filter { $0.count > 0 }.map { "\($0.count) \($0.word)" }.joined(separator: ", ")
        }
        let changed = list(rows.map { (count: $0.0, word: $0.1) })
        return "\(Figures.count(reports.count, "source")): \(list(ends))"
            + (changed.isEmpty ? "" : "; rows: \(changed)")
    }
}
