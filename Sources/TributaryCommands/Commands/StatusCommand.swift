import ArgumentParser
import FeedDeclarations
import FeedModel
import FeedStores
import Foundation
import TributaryEngine
import TributaryStores

struct StatusCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show how each source stands: last outcome, when, next due, failures, error.",
        discussion: """
            Examples:
              tributary status
              tributary status shop --json
            """)

    @OptionGroup var options: GlobalOptions

    @Argument(help: "Only these sources; all by default.")
    var sources: [String] = []

    @Flag(name: .long, help: "Print a JSON array.")
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
        if json { return try Terminal.printJSON(status.elements) }

        let terminal = Terminal()
        var table = TextTable(
            [
                ("SOURCE", .left), ("OUTCOME", .left), ("LAST RUN", .left), ("LAST COMMIT", .left), ("NEXT DUE", .left),
                ("FAILURES", .right),
            ] + (status.daemons == nil ? [] : [("DAEMON", .left)]))
        for source in status.sources {
            let state = source.state
            func time(_ date: Date?) -> TextTable.Cell { .init(date.map { RelativeTime.text($0, now: now) } ?? "-") }
            let outcome =
                state.isHeldBack
                ? TextTable.Cell("held back", .red)
                : state.outcome.map { TextTable.Cell($0.rawValue, Figures.color($0)) } ?? "never run"
            let due =
                source.declaration?.isEnabled == true
                ? (state.gone != nil
                    ? "never" : state.isHeld ? "held" : RelativeTime.text(max(state.nextDue ?? now, now), now: now))
                : "switched off"
            table.add(
                [
                    .init(state.source), outcome, time(state.lastRun), time(state.lastCommit), .init(due),
                    .init(String(state.failures)),
                ] + (status.daemons.map { [.init($0.text(for: state.source))] } ?? []))
        }
        let lines = table.lines(on: terminal)
        try Terminal.print(lines[0])
        for (line, state) in zip(lines.dropFirst(), status.sources.map(\.state)) {
            try Terminal.print(line)
            if let note = state.note { try Terminal.print("    " + terminal.colored(note, .yellow)) }
            if let error = state.error { try Terminal.print("    " + terminal.colored(error, .red)) }
        }
        for source in status.undeclared {
            try Terminal.print(terminal.colored(TributaryConfiguration.undeclared(source.state.source), .yellow))
        }
        try show(status.hooks, on: terminal, now: now)
        let isDaemonRunning = DaemonFolder(configuration)?.isDaemonRunning ?? (status.daemons?.records.isEmpty == false)
        if let daemons = status.daemons, isDaemonRunning { try Terminal.print("Daemons: \(daemons.summary(now: now))") }
        if !isDaemonRunning {
            try Terminal.print(
                terminal.colored("No daemon runs: what is due waits for `run`, or for `sync`.", .yellow))
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
