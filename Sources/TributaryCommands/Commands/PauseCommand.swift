import ArgumentParser
import Foundation

struct PauseCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Fetch nothing for these sources until 'resume'.",
        discussion: """
            The rows stay. A run in progress ends as usual; 'accept', 'undo' and 'replay' still work. The pause outlives a \
            restart, a changed declaration and 'sync --force'.

            Example:
              tributary pause shop
            """)

    @OptionGroup var options: GlobalOptions

    @Argument(help: "The sources to pause.", completion: DeclaredNames.sources)
    var sources: [String]

    @Flag(name: .long, help: "Print a JSON object.")
    var json = false

    func run(_ program: Program) async throws {
        let configuration = try program.configuration(options)
        try SyncCommand.check(sources, in: configuration)
        let paused = try StoreReader(configuration).pause(sources)
        if json { return try Terminal.printJSON(["paused": paused]) }
        for source in sources {
            try Terminal.print(
                paused.contains(source)
                    ? "\(source) is paused; `tributary resume \(source)` runs it again" : "\(source) is paused already")
        }
    }
}
