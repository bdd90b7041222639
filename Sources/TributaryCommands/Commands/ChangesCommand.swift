import ArgumentParser
import FeedConfiguration
import FeedModel
import FeedStores
import TributaryEngine

struct ChangesCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "changes", abstract: "Show each row that runs have changed, with old and new values.",
        discussion: """
            Needs keep_history = true. Without --run and --since, shows the last run that changed rows.

            Example:
              tributary changes shop --since 2026-11-17
            """)

    @OptionGroup var options: GlobalOptions

    @Argument(help: "Show only this source's runs.", completion: DeclaredNames.sources)
    var source: String?

    @Option(name: .long, help: "Show only this run, by its number in 'history'.")
    var run: Int64?

    @Option(name: .long, help: "Show the runs since this time: 2026-11-17, or 2026-11-17T14:30Z.")
    var since: String?

    @Option(name: .long, help: "Show only this table.")
    var table: String?

    @Option(name: .long, help: "The maximum number of rows to show; all by default.")
    var limit: Int?

    @Flag(name: .long, help: "Print one JSON object per row on a line.")
    var json = false

    func validate() throws {
        guard limit ?? 1 > 0 else { throw ValidationError("--limit must be above 0") }
    }

    func run(_ program: Program) async throws {
        let configuration = try program.configuration(options)
        let since = try since.map { try TimeArgument.time($0, option: "--since") }
        let store = try configuration.openedStore()
        defer { try? store.close() }
        if let run { try check(run: run, in: store) }
        var query = ChangeQuery(source: source, run: run, since: since, table: table)
        if run == nil, since == nil {
            guard let last = try store.read({ try $0.runs.lastWithHistory(of: source) }) else {
                throw Failure.failed(
                    "this store has no history\(source.map { " of source '\($0)'" } ?? ""); \(advice(source, configuration))"
                )
            }
            query.run = last
        }
        var output = ChangeOutput(json: json, terminal: Terminal())
        var rest = limit ?? .max
        try store.changes(query) { change in
            guard rest > 0 else {
                try output.cut()
                return false
            }
            rest -= 1
            try output.add(change)
            return true
        }
        if output.isEmpty {
            if let table {
                try check(table: table, in: store)
            } else if let run {
                try checkHistory(of: run, in: store, configuration)
            }
        }
        try output.end()
    }

    /// Returns what makes later changes known, of a source or of all.
    private func advice(_ source: String?, _ configuration: TributaryConfiguration) -> String {
        let sources = configuration.sources.filter { source == nil || $0.name == source }
        return sources.contains(where: \.keepsHistory)
            ? "it begins with the next run that changes rows, as keep_history is set"
            : "set keep_history = true in \(configuration.file)"
    }

    /// - Throws: ``Failure`` if a run without shown changes has changed rows.
    private func checkHistory(of number: Int64, in store: any MainStore, _ configuration: TributaryConfiguration) throws
    {
        guard let run = try store.read({ try $0.runs.run(number) }), run.outcome == .committed,
            run.counts.changed > 0,
            try !store.read({ try $0.runs.hasHistory(number) })
        else { return }
        let later = try store.read { try $0.runs.lastWithHistory(of: run.source) }
        throw Failure.failed(
            "this store has no history of run \(number)"
                + (later == nil ? "; \(advice(run.source, configuration))" : ""))
    }

    /// - Throws: ``Failure`` if no such run is recorded.
    private func check(run: Int64, in store: any MainStore) throws {
        let recorded = try store.read { try $0.runs.run(run) }?.source
        guard recorded == nil || source != nil && recorded != source else { return }
        guard let source else {
            throw Failure.usage("there is no run \(run); `tributary history` lists the runs")
        }
        throw Failure.usage(
            "there is no run \(run) of source '\(source)'; `tributary history \(source)` lists its runs")
    }

    /// - Throws: ``Failure`` if no source has written such a table.
    private func check(table: String, in store: any MainStore) throws {
        let sources = try source.map { [$0] } ?? store.read { try $0.sources.all() }.keys.sorted()
        let tables = try sources.flatMap { try store.states(of: $0).requests.values.flatMap(\.tables) }
        guard !tables.contains(where: { $0.lowercased() == table.lowercased() }) else { return }
        let hint = nearestName(to: table, among: tables).map { "; did you mean '\($0)'?" } ?? ""
        let subject = source.map { "source '\($0)' has written no table" } ?? "no source has written a table"
        throw Failure.usage("\(subject) '\(table)'\(hint)")
    }
}
