import ArgumentParser
import FeedModel
import FeedStores
import TributaryEngine

struct TailCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "tail", abstract: "Show the changelog: each changed row, and the end of each commit.",
        discussion: """
            Each row of the changelog has an id. To continue without a gap, pass the last id that you have read to \
            '--after'. If rows after this id have been deleted, a line reports it. '--follow' continues until SIGINT \
            or SIGTERM, or until the output is closed.

            Example:
              tributary tail shop --follow
            """)

    @OptionGroup var options: GlobalOptions

    @Argument(help: "Show only these sources; all by default.", completion: DeclaredNames.sources)
    var sources: [String] = []

    @Option(name: .long, help: ArgumentHelp("Begin after the row with this id.", valueName: "id"))
    var after: Int64?

    @Flag(name: .long, help: "Also print later commits, as they happen.")
    var follow = false

    @Flag(name: .long, help: "Print one JSON object per line.")
    var json = false

    @Flag(name: .long, help: "Print each row as it was before and after the change.")
    var values = false

    @Flag(name: .long, help: "With --json: print each row, with its values, in Debezium's form.")
    var debezium = false

    func validate() throws {
        if debezium, !json { throw ValidationError("--debezium needs --json") }
        if let after, after < 0 { throw ValidationError("--after must not be below 0") }
    }

    func run(_ program: Program) async throws {
        let configuration = try program.configuration(options)
        try SyncCommand.check(sources, in: configuration, mayBeOff: true)
        let store = try configuration.openedStore()
        defer { try? store.close() }
        let images = ChangelogReader.Images(debezium ? .debezium : .values, configuration, program.parsers)
        let tail = ChangelogTail(
            store, sources: Set(sources), after: after, follows: follow, isJSON: json,
            images: values || debezium ? images : nil)
        try await untilSignalled {
            try await withTaskCancellationHandler {
                try await SystemThreads().run { try tail.run() }
            } onCancel: {
                tail.stop()
                store.stopWaiting()
            }
        }
    }
}
