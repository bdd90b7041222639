import ArgumentParser
import FeedConfiguration
import FeedInferring
import FeedModel
import Foundation
import TributaryEngine

struct InitCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Create a first sources.toml, with a source for a document.",
        discussion: """
            Asks for the store, writes the proposal of `infer` for the document, checks it, shows what a first run will commit, \
            and asks whether to sync. Without a document, the file contains an example. An existing file is not changed.

            Examples:
              tributary init https://www.example.com/prices.xml
              tributary init prices.csv --store postgresql://localhost/shop --yes
            """)

    @OptionGroup var options: GlobalOptions

    @Argument(
        help: ArgumentHelp(
            "The document: a file, or an http:, https: or file: URL. Without it, the file contains an example.",
            valueName: "file|url"))
    var location: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The store: the path of an SQLite file, or the address of a PostgreSQL database (default: tributary.sqlite).",
            valueName: "path|url"))
    var store: String?

    @OptionGroup var document: DocumentOptions

    @Flag(name: .long, help: "Sync without asking, with the default store.")
    var yes = false

    func validate() throws {
        if location == StandardInput.name { throw ValidationError("a source needs an address; name a file or a URL") }
        if location == nil, let option = document.given.first { throw ValidationError("\(option) is for a document") }
        if store?.isEmpty ?? false { throw ValidationError("--store names a file or a database") }
    }

    /// The changes that are shown of a table and kind.
    private static let shownChanges = 5

    func run(_ program: Program) async throws {
        // Where the file is by default, not where another may be in /etc.
        let environment = ProcessInfo.processInfo.environment["TRIBUTARY_CONFIG"] ?? ""
        let file = options.config ?? (environment.isEmpty ? "sources.toml" : environment)
        var options = options
        options.config = file
        guard !FileManager.default.fileExists(atPath: file) else { throw FirstConfiguration.exists(file) }
        var first = FirstConfiguration(store: try chosenStore())
        let credentials = try document.credentials(for: location, beside: file)
        if let location {
            first.source = try await SourceProposal(
                program: program, file: file, document: location, options: document, credentials: credentials
            ).make().toml
        }
        try Terminal.print("wrote \(try first.write(to: file).joined(separator: " and "))")

        guard credentials.variables.isEmpty else {
            // The file has names for the secrets, and these are not set.
            let names = credentials.variables.joined(separator: " and ")
            return try Terminal.print(
                "Next: set the environment variable \(names) to the secret that was given, then run `tributary plan`.")
        }
        let check = ConfigurationCheck(program: program, options: options)
        let result = try await check.result()
        guard result.mistakes.isEmpty else { throw ConfigurationError(problems: result.mistakes) }
        try check.show(result)
        let configuration = try program.configuration(options)
        guard let source = configuration.sources.first else {
            return try Terminal.print("Next: write a source into \(file), then run `tributary check`.")
        }
        if configuration.sources.count == 1 {
            let plan = PlanRun(
                configuration: configuration, source: source, limit: Self.shownChanges, json: false,
                whole: "tributary plan \(source.name)")
            _ = try await plan.run(program) { (service, onChange) async throws in
                try await service.plan(source, bodies: [:], ignoresValidators: false, onChange: onChange)
            }
        }
        if first.source?.contains("\nsync = \"upsert\"\n") ?? false {
            try Terminal.print(
                "Rows that leave the document stay (sync = \"upsert\"). If it is a full list, write sync = \"mirror\".")
        }
        let isWanted = try yes || Terminal.isPersonThere && ConfirmationOptions.isAnswerYes("Sync now?")
        guard isWanted else {
            return try Terminal.print("Next: `tributary sync` commits this; `tributary run` keeps it up to date.")
        }
        guard try await SyncRun(configuration: configuration).run(program) else { throw ExitCode(1) }
    }

    private func chosenStore() throws -> String {
        if let store { return store }
        guard !yes, Terminal.isPersonThere else { return FirstConfiguration.defaultStore }
        let answer = try Terminal.ask(
            "Store: an SQLite file, or postgresql://USER@HOST/DATABASE [\(FirstConfiguration.defaultStore)]:")
        return answer.flatMap { $0.isEmpty ? nil : $0 } ?? FirstConfiguration.defaultStore
    }
}
