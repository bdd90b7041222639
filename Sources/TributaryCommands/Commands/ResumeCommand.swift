import ArgumentParser
import FeedStores
import Foundation
import TributaryEngine

struct ResumeCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Run paused sources again.",
        discussion: """
            A source is paused after 'pause', after the process died three times in a row during its runs, and after 'undo', \
            until its feed differs from the undone version. A running daemon refreshes resumed sources at once.

            Example:
              tributary resume shop
            """)

    @OptionGroup var options: GlobalOptions

    @Argument(help: "The sources to resume.", completion: DeclaredNames.sources)
    var sources: [String]

    @Flag(name: .long, help: "Print a JSON object.")
    var json = false

    private struct Result: Encodable {
        var resumed: [String]
        var daemon: Int32?
        var daemons: [String]?
    }

    func run(_ program: Program) async throws {
        let configuration = try program.configuration(options)
        try SyncCommand.check(sources, in: configuration)
        let resumed = try StoreReader(configuration).resume(sources)
        let asked = try resumed.isEmpty ? nil : RefreshRequest(configuration: configuration).sendIfPossible(resumed)
        if json {
            let result = Result(resumed: resumed, daemon: asked?.process, daemons: asked?.daemons)
            return try Terminal.printJSON(result)
        }
        for source in sources {
            try Terminal.print(
                resumed.contains(source)
                    ? "\(source) is resumed\(asked.map { "; \($0.text) refreshes it now" } ?? "")"
                    : "\(source) is not paused")
        }
    }
}
