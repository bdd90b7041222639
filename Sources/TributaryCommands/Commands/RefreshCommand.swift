import ArgumentParser
import FeedDeclarations
import Foundation
import TributaryEngine

struct RefreshCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh", abstract: "Tell the running daemons to refresh sources now.",
        discussion: "Returns at once; `status` and `history` show what came of it.")

    @OptionGroup var options: GlobalOptions

    @Argument(help: "The sources to refresh; every enabled one by default.")
    var sources: [String] = []

    @Flag(name: .long, help: "Print a JSON object.")
    var json = false

    private struct Result: Encodable {
        /// The process's id, on a store in a file.
        var daemon: Int32?
        /// The daemons' names, on a store that several share.
        var daemons: [String]?
        var sources: [String]

        init(_ asked: RefreshRequest.Asked, _ sources: [String]) {
            switch asked {
            case .process(let id): daemon = id
            case .daemons(let names): daemons = names
            }
            self.sources = sources
        }
    }

    func run(_ program: Program) async throws {
        let configuration = try program.configuration(options)
        try SyncCommand.check(sources, in: configuration)
        let daemon = try RefreshRequest(configuration: configuration).send(sources)
        let asked = sources.isEmpty ? configuration.enabledSources.map(\.name) : sources
        if json {
            Terminal.print(try JSONOutput.line(Result(daemon, asked)))
        } else {
            Terminal.print("asked \(daemon.text) to refresh \(asked.joined(separator: ", "))")
        }
    }
}
