import ArgumentParser
import FeedConfiguration
import Foundation
import TributaryEngine

struct StatusCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the state of each source: last outcome, next due, failures, error.",
        discussion: """
            Examples:
              tributary status
              tributary status shop --json
              tributary status --failing --exit-code
              tributary status --watch --interval 5
            """)

    @OptionGroup var options: GlobalOptions

    @Argument(help: "Show only these sources; all by default.", completion: DeclaredNames.sources)
    var sources: [String] = []

    @Flag(name: .long, help: "Show every source.")
    var all = false

    @Flag(name: .long, help: "Show only sources that are blocked, paused, failing, gone or stale.")
    var failing = false

    @Flag(name: .long, help: "End with exit status 1 if a source is blocked, paused, failing, gone or stale.")
    var exitCode = false

    @Flag(
        name: .long,
        help: "Fill the terminal and refresh; q quits, f shows only problems, a shows all, arrows scroll.")
    var watch = false

    @Option(
        name: .long,
        help: ArgumentHelp("With --watch: the time between two refreshes; 2 by default.", valueName: "seconds"))
    var interval: Int?

    @OptionGroup var output: JSONOption

    func validate() throws {
        guard watch else {
            guard interval == nil else { throw ValidationError("--interval requires --watch") }
            return
        }
        guard (1...86_400).contains(interval ?? 2) else { throw ValidationError("--interval takes 1 to 86400 seconds") }
        guard !output.json, !exitCode else { throw ValidationError("--watch excludes --json and --exit-code") }
    }

    func run(_ program: Program) async throws {
        var configuration = try program.storeConfiguration(options, only: sources)
        // The message about an unknown name has all that there are.
        if !sources.allSatisfy({ configuration[source: $0] != nil }), configuration.sources.allSatisfy(\.isRead) {
            configuration = try program.storeConfiguration(options)
        }
        try SyncCommand.check(sources, in: configuration, mayBeOff: true)
        var look = StatusLook(
            configuration, sources: sources, file: options.configurationFile, parsers: program.parsers)
        if watch {
            guard isatty(STDIN_FILENO) != 0, Terminal().isInteractive else {
                throw Failure.usage("--watch needs a terminal that understands control sequences")
            }
            return try await StatusWatch(look: look, interval: interval ?? 2, onlyFailing: failing).run()
        }
        let text = try look.read()
        let status = text.status
        try output.show(status.output(onlyProblems: failing, isDaemonRunning: text.isDaemonRunning)) {
            text.lines(failing ? .failing : all || !sources.isEmpty ? .all : .few, on: Terminal())
        }
        if exitCode, status.sources.contains(where: \.isProblem) { throw ExitCode(1) }
    }
}
