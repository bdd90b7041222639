import ArgumentParser
import FeedConfiguration
import FeedModel
import Foundation
import TributaryEngine

struct RefreshCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh", abstract: "Make the running daemons refresh sources now.",
        discussion: """
            Returns at once; `status` and `history` show the result.

            Example:
              tributary refresh shop
            """)

    @OptionGroup var options: GlobalOptions

    @Argument(help: "The sources to refresh; by default all enabled sources.", completion: DeclaredNames.sources)
    var sources: [String] = []

    @Flag(name: .long, help: "Print a JSON object.")
    var json = false

    private struct Result: Encodable {
        var daemon: Int32?
        var daemons: [String]?
        var sources: [String]
        /// The sources that their servers have asked to wait, and the ends of these waits.
        var waits: [Wait]
    }

    private struct Wait: Encodable {
        var source: String
        var until: Date?
    }

    func run(_ program: Program) async throws {
        let configuration = try program.storeConfiguration(options)
        try SyncCommand.check(sources, in: configuration)
        for source in sources {
            let state = try StoreReader(configuration).state(of: source)
            guard state?.isStopped != true else {
                throw Failure.failed("\(source) is paused; `tributary resume \(source)` runs it again")
            }
        }
        let daemon = try RefreshRequest(configuration: configuration).send(sources)
        let asked = sources.isEmpty ? configuration.enabledSources.map(\.name) : sources
        // A host that has asked for a pause gets no request before its end, whatever people ask for.
        let waiting = try StoreReader(configuration).status(of: asked).filter { $0.wait?.reason == .host }
        if json {
            let result = Result(
                daemon: daemon.process, daemons: daemon.daemons, sources: asked,
                waits: waiting.map { Wait(source: $0.state.source, until: $0.wait?.until) })
            return try Terminal.printJSON(result)
        }
        try Terminal.print("asked \(daemon.text) to refresh \(asked.joined(separator: ", "))")
        for status in waiting.prefix(10) { try Terminal.print("\(status.state.source): \(status.wait?.text ?? "")") }
        if waiting.count > 10 { try Terminal.print("\(waiting.count - 10) more wait for their hosts") }
    }
}
