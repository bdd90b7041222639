import ArgumentParser
import FeedConfiguration
import FeedModel
import FeedStores
import Foundation
import TributaryEngine

struct HistoryCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "Show past runs with their figures, the latest first.",
        discussion: """
            Example:
              tributary history shop --failed
            """)

    @OptionGroup var options: GlobalOptions

    @Argument(help: "Show only this source's runs.", completion: DeclaredNames.sources)
    var source: String?

    @Flag(name: .long, help: "Show only runs that were discarded or blocked.")
    var failed = false

    @Option(name: .long, help: "The maximum number of runs to show.")
    var limit = 20

    @OptionGroup var output: JSONOption

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit must be above 0") }
    }

    func run(_ program: Program) async throws {
        let configuration = try program.storeConfiguration(options)
        let runs =
            try configuration.reading { try $0.runs.last(of: source, failed: failed, limit: limit) } ?? []
        if let source, runs.isEmpty, !failed { try SyncCommand.checkKnown(source, in: configuration) }
        try output.show(["runs": runs.map(RunRecord.init)]) { lines(runs, in: configuration) }
    }

    private func lines(_ runs: [RunReport], in configuration: TributaryConfiguration) -> [TerminalLine] {
        let terminal = Terminal()
        let now = Date()
        var table = TextTable(
            [
                ("RUN", .right), ("SOURCE", .left), ("STARTED", .left), ("OUTCOME", .left), ("INS", .right),
                ("UPD", .right), ("DEL", .right), ("SAME", .right), ("SKIP", .right), ("BYTES", .right),
                ("TIME", .right),
            ], flexible: 1, dispensable: [9, 7, 10, 8])
        for run in runs {
            let counts = configuration.shownCounts(of: run)
            func figure(_ count: Int?) -> TextTable.Cell { .init(count.map(String.init) ?? "-") }
            table.add(
                [
                    .init(run.number.map(String.init) ?? ""), .init(run.source),
                    .init(RelativeTime.text(run.startedAt, now: now)),
                    .init(run.outcomeText, Figures.color(run.outcome)), figure(counts?.inserted),
                    figure(counts?.updated), figure(counts?.deleted), figure(counts?.unchanged), figure(run.skipped),
                    .init(Figures.bytes(run.bytes)), .init(Figures.seconds(run.seconds)),
                ], below: details(run, now, on: terminal))
        }
        return table.lines(on: terminal)
    }

    private func details(_ run: RunReport, _ now: Date, on terminal: Terminal) -> [TerminalLine] {
        let replaced = run.counts.replaced
        let texts: [(String?, Terminal.Color?)] =
            [
                (replaced > 0 ? "\(Figures.count(replaced, "record")) replaced by others with the same key" : nil, nil),
                (run.lastPoll.map { "\(run.polls) times, the last \(RelativeTime.text($0, now: now))" }, nil),
                (run.rejection, .yellow),
            ] + run.requests.map { request in (request.note.map { "request '\(request.key)': \($0)" }, .yellow) }
            + run.drift.map { ($0.text, .yellow) } + [(run.error, .red)]
        return texts.flatMap { text, color in text.map { terminal.wrapped($0, color, indent: 4) } ?? [] }
            + RunLines.requests(run.requests)
    }
}
