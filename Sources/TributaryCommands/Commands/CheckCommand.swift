import ArgumentParser
import FeedConfiguration
import TributaryEngine

struct CheckCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Validate configuration, schema and parsers, without the network.",
        discussion: """
            Tries the schema on an empty temporary store, and does not change the real store. Connects to a store on \
            a server only with --store.

            Examples:
              tributary check
              tributary check --store
            """)

    @OptionGroup var options: GlobalOptions

    @OptionGroup var output: JSONOption

    @Flag(name: .long, help: "Connect to a store on a server, and compare its tables with the file.")
    var store = false

    @Flag(
        name: .long,
        help: "Only report whether a source is enabled; if not, exit with 1. For systemd's ExecCondition.")
    var hasSources = false

    @Flag(name: .long, help: "Print a JSON Schema of sources.toml for editors, without a check.")
    var jsonSchema = false

    func run(_ program: Program) async throws {
        if jsonSchema { return try Terminal.write(Array(ConfigurationSchema.json)) }
        if hasSources { return try checkSources(program) }
        let check = ConfigurationCheck(program: program, options: options, asksServer: store)
        let result = try await check.result()
        if output.json {
            let object: JSONObject = [
                "file": result.file, "sources": result.sources, "requests": result.requests,
                "problems": result.mistakes.map(\.description), "mistakes": result.mistakes.map { JSONObject($0) },
                "notes": result.notes,
            ]
            try Terminal.printJSON(object)
        } else {
            try check.show(result)
        }
        guard !result.mistakes.isEmpty else { return }
        if output.json { throw ExitCode(78) }
        throw ConfigurationError(problems: result.mistakes)
    }

    /// A file with mistakes passes: the daemon is to fail with them, and not to be passed over.
    private func checkSources(_ program: Program) throws {
        let enabled: Int
        do {
            enabled = try program.configuration(options).enabledSources.count
        } catch is ConfigurationError {
            return
        }
        guard enabled == 0 else { return }
        throw Failure.failed(
            "\(options.configurationFile): no source is enabled; see 'man sources.toml'")
    }
}
