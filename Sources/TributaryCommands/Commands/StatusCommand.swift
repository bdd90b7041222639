import ArgumentParser
import FeedDeclarations
import FeedModel
import FeedStores
import Foundation
import TributaryEngine
import TributaryStores

struct StatusCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show how each source stands: last outcome, when, next due, failures, error.")

    @OptionGroup var options: GlobalOptions

    @Argument(help: "Only these sources; all by default.")
    var sources: [String] = []

    @Flag(name: .long, help: "Print a JSON array.")
    var json = false

    private struct Entry: Encodable {
        var state: SourceState
        /// The daemons, where several may share the store.
        var daemons: SharedDaemons?
        /// False where the source is in the store alone.
        var isDeclared = true

        enum Key: String, CodingKey {
            case source, outcome, last_run, last_commit, next_due, failures, error, note, declared, daemon, runner,
                held,
                failing_since
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(state.source, forKey: .source)
            try container.encode(state.outcome, forKey: .outcome)
            try container.encode(state.lastRun, forKey: .last_run)
            try container.encode(state.lastCommit, forKey: .last_commit)
            try container.encode(state.nextDue, forKey: .next_due)
            try container.encode(state.failures, forKey: .failures)
            try container.encode(state.error, forKey: .error)
            try container.encode(state.note, forKey: .note)
            if !isDeclared { try container.encode(false, forKey: .declared) }
            try container.encode(state.isHeldBack, forKey: .held)
            try container.encode(state.failingSince, forKey: .failing_since)
            guard let daemons else { return }
            try container.encode(daemons.owner(of: state.source), forKey: .daemon)
            try container.encode(daemons.runner(of: state.source), forKey: .runner)
        }
    }

    /// An element of the array: sources come first, then hooks.
    private enum Element: Encodable {
        case source(Entry)
        case hook(HookStatus)

        func encode(to encoder: any Encoder) throws {
            switch self {
            case .source(let entry): try entry.encode(to: encoder)
            case .hook(let status): try status.encode(to: encoder)
            }
        }
    }

    func run(_ program: Program) async throws {
        let configuration = try program.configuration(options)
        try SyncCommand.check(sources, in: configuration)
        let shown = configuration.sources.filter { sources.isEmpty || sources.contains($0.name) }
        let store = try configuration.openExistingStore()
        let stored = try store?.sourceStates() ?? [:]
        let daemons = try (store as? any SharedStore).map(SharedDaemons.init)
        let now = Date()
        let turns = HostTurns(configuration, states: stored, now: now)
        let states = shown.map { source in
            var state = stored[source.name] ?? SourceState(source: source.name)
            if let turn = turns.note(on: source) {
                state.note = [state.note, turn].compactMap(\.self).joined(separator: "; ")
            }
            return state
        }
        let others = sources.isEmpty ? configuration.undeclaredSources(among: stored) : []
        let hooks = try sources.isEmpty ? hooks(configuration, store) : []
        if json {
            let entries =
                states.map { Entry(state: $0, daemons: daemons) }
                + others.compactMap { stored[$0] }.map { Entry(state: $0, daemons: daemons, isDeclared: false) }
            return Terminal.print(try JSONOutput.line(entries.map(Element.source) + hooks.map(Element.hook)))
        }

        let terminal = Terminal()
        var table = TextTable(
            [
                ("SOURCE", .left), ("OUTCOME", .left), ("LAST RUN", .left), ("LAST COMMIT", .left), ("NEXT DUE", .left),
                ("FAILURES", .right),
            ] + (daemons == nil ? [] : [("DAEMON", .left)]))
        for (source, state) in zip(shown, states) {
            func time(_ date: Date?) -> TextTable.Cell { .init(date.map { RelativeTime.text($0, now: now) } ?? "-") }
            let outcome =
                state.isHeldBack
                ? TextTable.Cell("held back", .red)
                : state.outcome.map { TextTable.Cell($0.rawValue, Figures.color($0)) } ?? "never run"
            let due =
                source.isEnabled
                ? (state.gone != nil
                    ? "never" : state.isHeld ? "held" : RelativeTime.text(max(state.nextDue ?? now, now), now: now))
                : "switched off"
            table.add(
                [
                    .init(source.name), outcome, time(state.lastRun), time(state.lastCommit), .init(due),
                    .init(String(state.failures)),
                ] + (daemons.map { [.init($0.text(for: source.name))] } ?? []))
        }
        let lines = table.lines(on: terminal)
        Terminal.print(lines[0])
        for (line, state) in zip(lines.dropFirst(), states) {
            Terminal.print(line)
            if let note = state.note { Terminal.print("    " + terminal.colored(note, .yellow)) }
            if let error = state.error { Terminal.print("    " + terminal.colored(error, .red)) }
        }
        for source in others {
            Terminal.print(terminal.colored(TributaryConfiguration.undeclared(source), .yellow))
        }
        show(hooks, on: terminal, now: now)
        let isDaemonRunning = DaemonFolder(configuration)?.isDaemonRunning ?? (daemons?.records.isEmpty == false)
        if let daemons, isDaemonRunning { Terminal.print("Daemons: " + daemons.summary(now: now)) }
        if !isDaemonRunning {
            Terminal.print(
                terminal.colored("No daemon runs: what is due waits for `run`, or for `sync`.", .yellow))
        }
    }

    private func hooks(_ configuration: TributaryConfiguration, _ store: (any MainStore)?) throws -> [HookStatus] {
        guard !configuration.hooks.isEmpty else { return [] }
        let states = try store?.hookStates() ?? [:]
        return try configuration.hooks.map { try HookStatus($0, states[$0.name], in: store) }
    }

    private func show(_ hooks: [HookStatus], on terminal: Terminal, now: Date) {
        guard !hooks.isEmpty else { return }
        var table = TextTable(HookStatus.headings)
        for hook in hooks { table.add(hook.cells(now: now)) }
        let lines = table.lines(on: terminal)
        Terminal.print("\n" + lines[0])
        for (line, hook) in zip(lines.dropFirst(), hooks) {
            Terminal.print(line)
            if let error = hook.state?.error { Terminal.print("    " + terminal.colored(error, .red)) }
        }
    }
}
