import ArgumentParser
import FeedConfiguration
import FeedModel
import FeedStores
import Foundation
import TributaryEngine

struct AcceptCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept", abstract: "Commit the documents of blocked runs.",
        discussion: """
            A run is blocked if it would delete or change more rows than 'max_deleted' and 'max_changed' allow, or if \
            it misses an expectation. Its documents are kept. A running daemon commits accepted documents at once; \
            otherwise, the next 'sync' does. Nothing is fetched.

            accept shows the changes before it asks, the largest differences first. The commit makes exactly these \
            changes; if the store has changed since, the run is blocked again.

            With --in-advance, the next commit of a source that is not blocked may delete and change any number of \
            rows.

            Examples:
              tributary accept shop
              tributary accept shop --dry-run
            """)

    @OptionGroup var options: GlobalOptions
    @OptionGroup var confirmation: ConfirmationOptions

    @Argument(help: "The sources to accept.", completion: DeclaredNames.sources)
    var sources: [String]

    @Option(
        name: .customLong("run"),
        help: ArgumentHelp(
            "The number of the blocked run; if another run is blocked, accept nothing.", valueName: "number"))
    var number: Int64?

    @Flag(name: .long, help: "Permit any changes in the next commits of sources that are not blocked.")
    var inAdvance = false

    @Option(name: .long, help: "Changes to show per table and kind before the question; 0 for all kept changes.")
    var limit = 20

    @Flag(name: .long, help: "Print a JSON object.")
    var json = false

    func validate() throws {
        guard number == nil || sources.count == 1 && !inAdvance else {
            throw ValidationError("--run is for the blocked run of one source")
        }
    }

    private struct Result: Encodable {
        var accepted: [String]
        var runs: [Int64]?
        var until: Date
        /// What would be committed, with `--dry-run`.
        var changes: [PlanOutput]?
        var daemon: Int32?
        var daemons: [String]?
    }

    func run(_ program: Program) async throws {
        let configuration = try program.configuration(options)
        try SyncCommand.check(sources, in: configuration)
        let accepted = try StoreReader(configuration).accept(sources, inAdvance: inAdvance, run: number) {
            acceptances in
            if !confirmation.yes { try ask(acceptances, configuration) }
        }
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

    /// Shows what would be committed, with the blocked runs' own figures, and asks.
    private func ask(_ acceptances: [Acceptance], _ configuration: TributaryConfiguration) throws {
        try confirmation.requireAnswer(json: json)
        let blocked = try acceptances.compactMap { acceptance in
            try acceptance.run.flatMap { try StoreReader(configuration).run($0) }
        }
        let reviews = blocked.map { configuration.review(of: $0) }
        if json {
            try Terminal.printJSON(
                Result(
                    accepted: [], runs: inAdvance ? nil : acceptances.compactMap(\.run),
                    until: acceptances.map(\.until).min() ?? Date(),
                    changes: zip(blocked, reviews).compactMap { run, review in
                        review.map {
                            PlanOutput(source: run.source, counts: $0.total, report: PlanReport($0, limit: limit))
                        }
                    }))
        } else {
            for acceptance in acceptances where acceptance.run == nil {
                try Terminal.printWrapped(
                    "\(acceptance.source): its next commit within a day may delete and change any number of rows")
            }
            for (run, review) in zip(blocked, reviews) {
                try Terminal.printWrapped("\(run.source): accept commits run \(run.number ?? 0):")
                if let error = run.error { try Terminal.printWrapped(AcceptAdvice.removed(from: error)) }
                guard let review else {
                    try Terminal.print("the changes of this run were not kept")
                    continue
                }
                for line in PlanReport(review, limit: limit).changes(on: Terminal()) { try Terminal.print(line) }
            }
        }
        try confirmation.ask("Accept \(acceptances.map(\.source).joined(separator: ", "))?")
    }
}
