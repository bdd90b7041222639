import ArgumentParser
import FeedDeclarations
import FeedModel
import FeedStores
import Foundation
import TributaryEngine
import TributaryStores

struct StatusCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the state of each source: last outcome, next due, failures, error.",
        discussion: """
            Examples:
              tributary status
              tributary status shop --json
              tributary status --failing --exit-code
            """)

    @OptionGroup var options: GlobalOptions

    @Argument(help: "Only these sources; all by default.", completion: DeclaredNames.sources)
    var sources: [String] = []

    @Flag(name: .long, help: "Show each source, however many there are.")
    var all = false

    @Flag(name: .long, help: "Show only sources that are blocked, paused, failing, gone or stale.")
    var failing = false

    @Flag(name: .long, help: "End with exit status 1 if a source is blocked, paused, failing, gone or stale.")
    var exitCode = false

    @Flag(name: .long, help: "Print a JSON object.")
    var json = false

    func run(_ program: Program) async throws {
        var configuration = try program.configuration(options, only: sources)
        // The message about an unknown name has all that there are.
        if !sources.allSatisfy({ configuration[source: $0] != nil }) {
            configuration = try program.configuration(options)
        }
        try SyncCommand.check(sources, in: configuration, mayBeOff: true)
        let now = Date()
        let status = try configuration.withExistingStore {
            try StoreStatus(configuration, only: sources, in: $0, now: now)
        }
        // Of a store on a server, the daemons are in the store.
        let isDaemonRunning = status.daemons.map { !$0.records.isEmpty } ?? DaemonFolder(configuration)?.isDaemonRunning
        if json {
            try Terminal.printJSON(
                status.output(onlyProblems: failing, isDaemonRunning: isDaemonRunning ?? false))
        } else {
            try show(status, now: now, isDaemonRunning: isDaemonRunning ?? false)
        }
        if exitCode, status.sources.contains(where: \.isProblem) { throw ExitCode(1) }
    }

    /// The most sources without a problem that are shown unasked; of more, only their number.
    private static let mostShown = 20

    /// Shows problems first.
    private func show(_ status: StoreStatus, now: Date, isDaemonRunning: Bool) throws {
        let problems = status.sources.filter(\.isProblem)
        let rest = status.sources.filter { !$0.isProblem }
        let isRestShown = !failing && (all || !sources.isEmpty || rest.count <= Self.mostShown)
        let shown = isRestShown ? problems + rest : problems
        let terminal = Terminal()
        var table = TextTable(
            [
                ("SOURCE", .left), ("STATE", .left), ("LAST RUN", .left), ("LAST COMMIT", .left), ("NEXT DUE", .left),
                ("FAILURES", .right),
            ] + (status.daemons == nil ? [] : [("DAEMON", .left)]))
        for source in shown {
            let state = source.state
            func time(_ date: Date?) -> TextTable.Cell { .init(date.map { RelativeTime.text($0, now: now) } ?? "-") }
            let condition = source.condition
            let due =
                switch condition {
                case .off, .gone, .undeclared: "never"
                case .paused where state.isStopped: "after resume"
                default: RelativeTime.text(max(state.nextDue ?? now, now), now: now)
                }
            table.add(
                [
                    .init(state.source), .init(condition.rawValue, Figures.color(condition)), time(state.lastRun),
                    time(state.lastCommit), .init(due),
                    .init(String(state.failures)),
                ] + (status.daemons.map { [.init($0.text(for: state.source))] } ?? []))
        }
        let lines = table.lines(on: terminal)
        if isRestShown || !shown.isEmpty { try Terminal.print(lines[0]) }
        for (line, state) in zip(lines.dropFirst(), shown.map(\.state)) {
            try Terminal.print(line)
            if let note = state.note { try Terminal.print("    " + terminal.colored(note, .yellow)) }
            if let error = state.error { try Terminal.print("    " + terminal.colored(error, .red)) }
        }
        if !isRestShown {
            let noun = problems.isEmpty ? "source" : "other source"
            try Terminal.print(
                "\(Figures.count(rest.count, noun)) without a problem\(failing ? "" : "; --all shows \(rest.count == 1 ? "it" : "them")")"
            )
        }
        if failing { return }
        for source in status.undeclared {
            try Terminal.print(terminal.colored(TributaryConfiguration.undeclared(source.state.source), .yellow))
        }
        try show(status.hooks, on: terminal, now: now)
        if let daemons = status.daemons, isDaemonRunning { try Terminal.print("Daemons: \(daemons.summary(now: now))") }
        if !isDaemonRunning {
            try Terminal.print(
                terminal.colored("No daemon runs: due sources wait for `run` or `sync`.", .yellow))
        }
    }

    private func show(_ hooks: [HookStatus], on terminal: Terminal, now: Date) throws {
        guard !hooks.isEmpty else { return }
        var table = TextTable(HookStatus.headings)
        for hook in hooks { table.add(hook.cells(now: now)) }
        let lines = table.lines(on: terminal)
        try Terminal.print("\n\(lines[0])")
        for (line, hook) in zip(lines.dropFirst(), hooks) {
            try Terminal.print(line)
            if let error = hook.state?.error { try Terminal.print("    " + terminal.colored(error, .red)) }
        }
    }
}
