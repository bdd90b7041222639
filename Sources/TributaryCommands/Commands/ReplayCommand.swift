import ArgumentParser
import FeedModel
import FeedStores
import Logging
import TributaryEngine
import TributaryStores

struct ReplayCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Read a source's kept bodies again, without the network.",
        discussion: """
            With the current declaration, parses the bodies that 'keep_bodies' has kept, and commits the differences. \
            Nothing is fetched, and the due time does not change. The next request is conditional, unless its declaration \
            has changed. With --all, reads the older bodies first, except for mirrors, and so also corrects rows that have \
            left the feed since. Exit status: 0 done; 1 discarded; 2 with --plan or --dry-run, a difference.

            Example:
              tributary replay shop --plan
            """)

    @OptionGroup var options: GlobalOptions
    @OptionGroup var confirmation: ConfirmationOptions

    @Argument(help: "The source.", completion: DeclaredNames.sources)
    var source: String

    @Flag(name: .long, help: "The same as --dry-run.")
    var plan = false

    @Flag(name: .long, help: "Read all kept bodies of requests that are not mirrors, the oldest first.")
    var all = false

    @Option(name: .long, help: "Changes to show per table and kind; 0 for all.")
    var limit = 100

    @OptionGroup var output: JSONOption

    func run(_ program: Program) async throws {
        let configuration = try program.writingConfiguration(options)
        let declaration = try SyncCommand.declared(source, in: configuration)
        let all = all
        if !plan { try confirmation.requireAnswer(json: output.json) }
        if plan || !confirmation.yes {
            let known = try configuration.withExistingStore { try $0?.states(of: source).requests ?? [:] }
            let differs = try await PlanRun(
                configuration: configuration, source: declaration, limit: limit, json: output.json
            ).run(program) { (service, onChange) async throws in
                try await service.plan(declaration, replaying: known, all: all, onChange: onChange)
            }
            guard differs else { return }
            if plan { throw ExitCode(2) }
            try confirmation.ask("Commit these changes of \(source)?")
        }
        let service = try program.service(configuration, logger: .console())
        defer { try? service.close() }
        let report = try await untilSignalled { try await service.replay(declaration, all: all) }
        try output.show(report) { RunLines.lines(report, nameWidth: source.count, on: Terminal()) }
        guard report.outcome.isGood else { throw ExitCode(1) }
    }
}
