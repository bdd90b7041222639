import ArgumentParser
import FeedConfiguration
import FeedModel
import FeedStores
import TributaryEngine

struct UndoCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo", abstract: "Restore a source's rows as they were after one of its runs.",
        discussion: """
            Needs keep_history = true. Without --to, undoes the last run that changed rows; a second undo undoes the \
            run before that. If another source or program has changed the rows since, the error names them and nothing is \
            changed. The source is then paused until its feed differs from the undone version, or until 'resume'.

            Examples:
              tributary undo shop --dry-run
              tributary undo shop --to 41
            """)

    @OptionGroup var options: GlobalOptions
    @OptionGroup var confirmation: ConfirmationOptions

    @Argument(help: "The source.", completion: DeclaredNames.sources)
    var source: String

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The run after which the rows were correct, by its number in 'history', or a time: 2026-11-17T14:30Z.",
            valueName: "run|time"))
    var to: String?

    @Flag(name: .long, help: "The same as --dry-run.")
    var plan = false

    @Option(name: .long, help: "Changes to show per table and kind; 0 for all.")
    var limit = 100

    @OptionGroup var output: JSONOption

    func run(_ program: Program) async throws {
        let configuration = try program.configuration(options)
        try SyncCommand.checkKnown(source, in: configuration)
        if !plan { try confirmation.requireAnswer(json: output.json) }
        var shown: (last: Int64, changes: ChangeDigest)?
        if plan || !confirmation.yes {
            let (last, changes) = try await PrivateFolder.with("undo") { folder in
                try await undoing(program, configuration, workFolder: folder) { undo in
                    let last = try await undo.lastCommit()
                    return (last, try await show(undo))
                }
            }
            guard let changes else { return }
            if plan { throw ExitCode(2) }
            try confirmation.ask("Undo these changes of \(source)?")
            shown = (last, changes)
        }
        try await undoing(program, configuration) { [shown] undo in
            let report = try await undo.run(shown: shown?.last, changes: shown?.changes)
            try output.show(report) {
                [
                    "\(source): \(report.note ?? "undone"): \(Figures.changes(report)) (\(Figures.seconds(report.seconds)))",
                    "\(source) is paused; `tributary resume \(source)` takes its feed as it is",
                ]
            }
        }
    }

    /// - Parameter workFolder: the folder of scratch files; nil for the store's own.
    private func undoing<Value>(
        _ program: Program, _ configuration: TributaryConfiguration, workFolder: String? = nil,
        _ body: (UndoRun) async throws -> Value
    ) async throws -> Value {
        let store = try configuration.openedStore(isWritten: true, workFolder: workFolder)
        defer { try? store.close() }
        return try await body(
            UndoRun(
                source, to: try target(), in: store, declaration: configuration[source: source],
                parsers: program.parsers, keys: DeclaredKeys(configuration, parsers: program.parsers)))
    }

    /// - Returns: what would change; nil for nothing.
    private func show(_ undo: UndoRun) async throws -> ChangeDigest? {
        let found = Mutex((report: PlanReport(limit: limit), changes: ChangeDigest()))
        let counts = try await undo.plan { change in
            found.withLock {
                $0.report.add(change)
                $0.changes.add(change)
            }
        }
        let (report, changes) = found.withLock { $0 }
        let differs = counts.changed > 0
        try output.show(JSONObject(planOf: source, counts, report)) {
            report.changes(on: Terminal()) + (differs ? [] : ["nothing will change"])
        }
        return differs ? changes : nil
    }

    private func target() throws -> UndoRun.Target {
        guard let to else { return .lastChange }
        if let number = Int64(to) { return .run(number) }
        return .time(try TimeArgument.time(to, option: "--to"))
    }
}
