import FeedConfiguration
import FeedModel
import Foundation
import TributaryEngine

/// The state of each source and hook, for people.
struct StatusText {
    enum Selection: Equatable {
        /// Sources that somebody should look at, and no hooks.
        case failing
        /// Problems first, and the others as a count where they are many.
        case few
        case all
    }

    let status: StoreStatus
    let now: Date
    let isDaemonRunning: Bool
    /// The command that has the store to itself, with its process; nil without one.
    var command: String?
    /// The outcomes of the last runs of the sources that are in view, the latest last: they are shown in place of the
    /// numbers of failures. Nil for a table without them.
    var runs: [String: [RunOutcome]]?

    /// The most runs that are shown of a source.
    static let mostRuns = 8

    /// The most sources without a problem that are shown unasked; of more, only their number.
    private static let mostShown = 20

    /// The sources that need somebody, those that wait for a decision first.
    private var problems: [SourceStatus] {
        status.sources.filter(\.isProblem).enumerated().sorted {
            ($0.element.condition, $0.offset) < ($1.element.condition, $1.offset)
        }.map(\.element)
    }

    /// The numbers of sources by their conditions: `2 blocked, 3 failing, 20 ok`.
    var counts: String {
        let counts = Dictionary(grouping: status.sources, by: \.condition).mapValues(\.count).sorted { $0.key < $1.key }
        return counts.map { "\($0.value) \($0.key.word)" }.joined(separator: ", ")
    }

    /// Returns the sources in the order of the table, problems first.
    func sources(_ selection: Selection) -> [SourceStatus] {
        problems + (selection == .failing ? [] : status.sources.filter { !$0.isProblem })
    }

    /// Returns the sources, problems first, and what follows them.
    func table(_ selection: Selection, on terminal: Terminal) -> StatusTable {
        let (heading, rows) = rows(sources(selection), on: terminal).parts(on: terminal)
        return StatusTable(heading: heading, rows: rows, rest: selection == .failing ? [] : rest(on: terminal))
    }

    /// Returns the lines, problems first.
    func lines(_ selection: Selection, on terminal: Terminal) -> [TerminalLine] {
        let problems = problems
        let rest = status.sources.filter { !$0.isProblem }
        let isRestShown = selection == .all || selection == .few && rest.count <= Self.mostShown
        let shown = isRestShown ? problems + rest : problems
        var lines = shown.isEmpty && !isRestShown ? [] : rows(shown, on: terminal).lines(on: terminal)
        if !isRestShown {
            let noun = problems.isEmpty ? "source" : "other source"
            let hint = selection == .failing ? "" : "; --all shows \(rest.count == 1 ? "it" : "them")"
            lines.append("\(Figures.count(rest.count, noun)) without a problem\(hint)")
        }
        return selection == .failing ? lines : lines + self.rest(on: terminal)
    }

    /// Returns what is said after the declared sources.
    private func rest(on terminal: Terminal) -> [TerminalLine] {
        var lines: [TerminalLine] = []
        for source in status.undeclared {
            lines += terminal.wrapped(TributaryConfiguration.undeclared(source.state.source), .yellow)
        }
        lines += hooks(on: terminal)
        if let daemons = status.daemons, isDaemonRunning {
            lines += terminal.wrapped("Daemons: \(daemons.summary(now: now))")
        }
        if let command {
            lines.append(terminal.colored("\(command) has the store: no source runs until it ends.", .yellow))
        } else if !isDaemonRunning {
            lines.append(terminal.colored("No daemon runs: due sources wait for `run` or `sync`.", .yellow))
        }
        return lines
    }

    /// Returns a row for each source, with its note and error below it.
    private func rows(_ sources: [SourceStatus], on terminal: Terminal) -> TextTable {
        var table = TextTable(
            [
                ("SOURCE", .left), ("STATE", .left), ("LAST RUN", .left), ("LAST COMMIT", .left), ("NEXT DUE", .left),
                runs == nil ? ("FAILURES", .right) : ("RUNS", .left),
            ] + (status.daemons == nil ? [] : [("DAEMON", .left)]), flexible: 0)
        for source in sources {
            let state = source.state
            func time(_ date: Date?) -> TextTable.Cell { .init(date.map { RelativeTime.text($0, now: now) } ?? "-") }
            let condition = source.condition
            let due =
                source.isRunning
                ? "running" : source.dueWord ?? RelativeTime.text(max(state.nextDue ?? now, now), now: now)
            table.add(
                [
                    .init(state.source), .init(condition.word, Figures.color(condition)), time(state.lastRun),
                    time(state.lastCommit), .init(due),
                    .init(runs.map { Self.strip($0[state.source] ?? []) } ?? String(state.failures)),
                ] + (status.daemons.map { [.init($0.text(for: state.source))] } ?? []),
                below: (state.note.map { terminal.wrapped($0, .yellow, indent: 4) } ?? [])
                    + (state.error.map { terminal.wrapped($0, .red, indent: 4) } ?? []))
        }
        return table
    }

    /// Returns a bar for each run, in so many columns as there may be: what failed is tall, what found nothing is low.
    private static func strip(_ runs: [RunOutcome]) -> String {
        let bars = runs.suffix(mostRuns).map { outcome in
            switch outcome {
            case .discarded, .blocked: "█"
            case .committed: "▅"
            case .cancelled: "▃"
            case .unchanged, .notDue: "▁"
            }
        }
        return bars.joined().padded(to: mostRuns)
    }

    private func hooks(on terminal: Terminal) -> [TerminalLine] {
        guard !status.hooks.isEmpty else { return [] }
        var table = TextTable(HookStatus.headings, flexible: 4)
        for hook in status.hooks {
            let error = hook.state?.error.map { terminal.wrapped($0, .red, indent: 4) }
            table.add(hook.cells(now: now), below: error ?? [])
        }
        return [""] + table.lines(on: terminal)
    }
}

/// The sources of `status` as lines of a window.
struct StatusTable {
    var heading: TerminalLine = ""
    /// A line for each source, with its note and error.
    var rows: [(line: TerminalLine, details: [TerminalLine])] = []
    /// What stands below the sources.
    var rest: [TerminalLine] = []
}

extension SourceCondition {
    /// The word for people.
    fileprivate var word: String { self == .off ? "disabled" : rawValue }
}

/// The line of a hook in the table of `status`.
extension HookStatus {
    static let headings: [(title: String, alignment: TextTable.Alignment)] = [
        ("HOOK", .left), ("POSITION", .left), ("BEHIND", .right), ("DELIVERED", .left), ("WAITING FOR", .left),
    ]

    func cells(now: Date) -> [TextTable.Cell] {
        let behindText = behind >= Self.mostCounted ? "\(Self.mostCounted) or more runs" : "\(behind) runs"
        return [
            .init(hook.name), .init(state.map { "run \($0.position.run)" } ?? "-"),
            .init(behind == 1 ? "1 run" : behindText),
            .init(state?.deliveredAt.map { RelativeTime.text($0, now: now) } ?? "-"), waitsFor(now: now),
        ]
    }

    private func waitsFor(now: Date) -> TextTable.Cell {
        guard let state else { return .init("a daemon", .yellow) }
        if isGone { return .init("another address: the receiver answered 410 Gone", .red) }
        guard state.attempts > 0 else { return .init(behind > 0 ? "delivery" : "the next event") }
        let next = RelativeTime.text(max(state.nextAttempt ?? now, now), now: now)
        let times = state.attempts == 1 ? "once" : "\(state.attempts) times"
        return .init("a retry \(next): failed \(times)", .yellow)
    }
}
