import ArgumentParser
import FeedStores
import Foundation
import TributaryEngine

struct ReleaseCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "release", abstract: "Run held sources again.",
        discussion: """
            A source is held when the process died three times in a row during its runs, and after 'undo', until its feed \
            differs from the one that was undone. A running daemon refreshes what has been released at once.

            Example:
              tributary release shop
            """)

    @OptionGroup var options: GlobalOptions

    @Argument(help: "The sources to release.")
    var sources: [String]

    @Flag(name: .long, help: "Print a JSON object.")
    var json = false

    private struct Result: Encodable {
        var released: [String]
        var daemon: Int32?
        var daemons: [String]?
    }

    func run(_ program: Program) async throws {
        let configuration = try program.configuration(options)
        try SyncCommand.check(sources, in: configuration)
        let released = try StoreReader(configuration).release(sources)
        let asked = try released.isEmpty ? nil : RefreshRequest(configuration: configuration).sendIfPossible(released)
        if json {
            let result = Result(released: released, daemon: asked?.process, daemons: asked?.daemons)
            return try Terminal.printJSON(result)
        }
        for source in sources {
            let isReleased = released.contains(source)
            try Terminal.print(
                isReleased
                    ? "\(source) is released\(asked.map { "; \($0.text) refreshes it now" } ?? "")"
                    : "\(source) is not held")
        }
    }
}
