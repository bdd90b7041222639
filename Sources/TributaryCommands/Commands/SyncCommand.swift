import ArgumentParser
import FeedDeclarations
import FeedModel
import FeedStores
import Foundation
import Logging
import TributaryEngine

struct SyncCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync", abstract: "Refresh sources once and exit.",
        discussion: """
            Nothing is fetched for sources that are not due.

            Examples:
              tributary sync
              tributary sync shop --force
            """)

    @OptionGroup var options: GlobalOptions

    @Argument(help: "The sources to refresh; every enabled one by default.", completion: DeclaredNames.sources)
    var sources: [String] = []

    @Flag(name: .long, help: "Ignore cache intervals and back-off.")
    var force = false

    @Flag(name: .long, help: "Ignore validators, too: fetch and parse everything.")
    var full = false

    @Flag(name: [.customShort("q"), .long], help: "Print only sources that failed or wait after a failure. For cron.")
    var quiet = false

    @Flag(name: .long, help: "Print one JSON object a line for each run.")
    var json = false

    func run(_ program: Program) async throws {
        let configuration = try program.configuration(options)
        try Self.check(sources, in: configuration)
        let terminal = Terminal()
        let display = ProgressDisplay(terminal: terminal)
        let logger = Logger(label: "tributary") { _ in ConsoleLogHandler() }
        let (isJSON, isQuiet) = (json, quiet)
        let service = try program.service(configuration, logger: logger) { if !isJSON, !isQuiet { display.update($0) } }
        defer { try? service.close() }
        let mode: RefreshMode = full ? .full : force ? .force : .whenDue
        let names = sources
        let width = configuration.sources.map(\.name.displayWidth).max() ?? 0

        // Runs under way are then discarded, and report that.
        let reports = try await untilSignalled {
            try await service.sync(names, mode: mode) { report in
                if isJSON {
                    display.write(report)
                } else if !isQuiet || report.error != nil {
                    display.finish(report, line: Self.line(report, nameWidth: width, on: terminal))
                }
            }
        }
        try display.check()
        if !json, !quiet, reports.count > 1 {
            do {
                try Terminal.print(TerminalLine(Self.summary(reports)))
            } catch OutputError.unread {
                // The runs have ended as they have, whoever reads it.
            }
        }
        // A source that waits after a failure has an error, too.
        guard reports.allSatisfy({ $0.error == nil }) else { throw ExitCode(1) }
    }

    static func line(_ report: RunReport, nameWidth: Int, on terminal: Terminal) -> TerminalLine {
        let name = report.source.padded(to: nameWidth)
        let waits = report.outcome == .notDue && report.error != nil
        let word = waits ? "waiting" : Figures.word(report.outcome)
        let outcome = word.padded(to: 9)
        return
            "\(name)  \(terminal.colored(outcome, waits ? .yellow : Figures.color(report.outcome)))  \(Figures.summary(report, now: Date()))"
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

    /// Returns which of some names was meant: the nearest one, else a few of them.
    static func hint(_ name: String, _ known: [String]) -> String {
        if let nearest = nearestName(to: name, among: known) { return "did you mean '\(nearest)'?" }
        let most = 10
        let rest = known.count > most ? ", and \(known.count - most) more" : ""
        return "it has: " + known.prefix(most).joined(separator: ", ") + rest
    }

    /// - Parameter mayBeOff: true for commands that only show.
    /// - Throws: ``Failure`` if a name is not a source's, or its source is switched off.
    static func check(_ names: [String], in configuration: TributaryConfiguration, mayBeOff: Bool = false) throws {
        for name in names {
            guard let source = configuration[source: name] else {
                throw Failure.usage(
                    "there is no source '\(name)' in \(configuration.file); \(hint(name, configuration.sources.map(\.name)))"
                )
            }
            guard source.isEnabled || mayBeOff else {
                throw Failure.usage("the source '\(name)' is switched off in \(configuration.file) (enabled = false)")
            }
        }
    }
}
