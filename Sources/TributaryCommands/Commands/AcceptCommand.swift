import ArgumentParser
import FeedStores
import Foundation
import TributaryEngine

struct AcceptCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept", abstract: "Commit the documents of blocked runs.",
        discussion: """
            A run that would delete or change more of a table's rows than 'max_deleted' and 'max_changed' allow is \
            blocked, and its documents are kept. 'accept' lets them through: a running daemon commits them at once, else \
            the next 'sync' does. Nothing is fetched for that, and nothing else is let through.
            With --in-advance, the next commit of a source that is not blocked may delete and change any number of rows.

            Example:
              tributary accept shop
            """)

    @OptionGroup var options: GlobalOptions

    @Argument(help: "The sources to accept.")
    var sources: [String]

    @Flag(name: .long, help: "Let the next commits of sources that are not blocked do anything.")
    var inAdvance = false

    @Flag(name: .long, help: "Print a JSON object.")
    var json = false

    private struct Result: Encodable {
        var accepted: [String]
        var runs: [Int64]?
        var until: Date
        var daemon: Int32?
        var daemons: [String]?
    }

    func run(_ program: Program) async throws {
        let configuration = try program.configuration(options)
        try SyncCommand.check(sources, in: configuration)
        let accepted = try StoreReader(configuration).accept(sources, inAdvance: inAdvance)
        // What is accepted in advance is for documents that are still to come.
        let asked = try inAdvance ? nil : RefreshRequest(configuration: configuration).sendIfPossible(sources)
        if json {
            let result = Result(
                accepted: sources, runs: inAdvance ? nil : accepted.compactMap(\.run),
                until: accepted.map(\.until).min() ?? Date(), daemon: asked?.process, daemons: asked?.daemons)
            return try Terminal.printJSON(result)
        }
        for acceptance in accepted {
            try Terminal.print(
                acceptance.run.map { run in
                    let next = asked.map { "\($0.text) commits them now" }
                    return
                        "\(acceptance.source): the documents of run \(run) are accepted; \(next ?? "`tributary sync \(acceptance.source)` commits them")"
                } ?? "\(acceptance.source): its next commit within a day may delete and change any number of rows")
        }
    }
}
