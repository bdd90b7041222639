import ArgumentParser
import FeedStores
import Foundation
import TributaryEngine

struct AcceptCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept", abstract: "Let sources delete or change more rows than allowed, once.",
        discussion: """
            A commit that would delete or change a larger part of a table's rows than 'max_deleted' and 'max_changed' \
            allow is discarded. What is accepted is let through once, within a day. A running daemon refreshes it at once. \
            Where bodies are kept (keep_bodies), what was held back is committed, and not fetched again.
            """)

    @OptionGroup var options: GlobalOptions

    @Argument(help: "The sources to accept.")
    var sources: [String]

    @Flag(name: .long, help: "Print a JSON object.")
    var json = false

    private struct Result: Encodable {
        var accepted: [String]
        var until: Date
        var daemon: Int32?
        var daemons: [String]?
    }

    func run(_ program: Program) async throws {
        let configuration = try program.configuration(options)
        try SyncCommand.check(sources, in: configuration)
        let end = Acceptance.end(from: Date())
        try StoreReader(configuration).accept(sources, until: end)
        let asked = try RefreshRequest(configuration: configuration).sendIfPossible(sources)
        if json {
            let result = Result(accepted: sources, until: end, daemon: asked?.process, daemons: asked?.daemons)
            return Terminal.print(try JSONOutput.line(result))
        }
        for source in sources {
            Terminal.print(
                "\(source): its next commit within a day may delete and change any number of rows"
                    + (asked.map { "; \($0.text) refreshes it now" } ?? ""))
        }
    }
}
