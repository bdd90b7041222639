import ArgumentParser
import FeedDeclarations
import FeedModel
import FeedStores
import Foundation
import TributaryEngine
import TributaryStores

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

    @Flag(name: .long, help: "Print one JSON object per row on a line.")
    var json = false

    func run(_ program: Program) async throws {
        let configuration = try program.configuration(options)
        let since = try since.map { try TimeArgument.time($0, option: "--since") }
        guard let store = try configuration.openExistingStore() else { throw Failure.failed("there is no store yet") }
        defer { try? store.close() }
        var query = ChangeQuery(source: source, run: run, since: since, table: table)
        if run == nil, since == nil {
            guard let last = try store.lastRunWithHistory(of: source) else {
                throw Failure.failed(
                    "no history has been kept\(source.map { " of source '\($0)'" } ?? ""); set keep_history = true in sources.toml"
                )
            }
            query.run = last
        }
        var output = ChangeOutput(json: json, terminal: Terminal())
        try store.changes(query) { try output.add($0) }
        try output.end()
    }
}
