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
            rows. --withdraw takes back what no run has used.

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

    @Flag(name: .long, help: "Withdraw permissions that no run has used.")
    var withdraw = false

    @Option(name: .long, help: "Changes to show per table and kind before the question; 0 for all kept changes.")
    var limit = 20

    @OptionGroup var output: JSONOption

    func validate() throws {
        guard number == nil || sources.count == 1 && !inAdvance else {
            throw ValidationError("--run is for the blocked run of one source")
        }
        guard !withdraw || number == nil && !inAdvance && !confirmation.dryRun else {
            throw ValidationError("--withdraw cannot be combined with --in-advance, --run or --dry-run")
        }
    }

    func run(_ program: Program) async throws {
        let configuration = try program.configuration(options)
        try SyncCommand.check(sources, in: configuration)
        let store = try configuration.openedStore(isWritten: true)
        defer { try? store.close() }
        if withdraw {
            let withdrawn = try store.write { try $0.acceptances.withdraw(sources, at: Date()) }
            return try output.show(["withdrawn": withdrawn]) {
                sources.map {
                    withdrawn.contains($0) ? "\($0): the permission is withdrawn" : "\($0) has no permission"
                }
            }
        }
        let accepted = try configuration.accept(sources, inAdvance: inAdvance, run: number, in: store, at: Date()) {
            if !confirmation.yes { try ask($0, store, configuration) }
        }
        // What is accepted in advance is for documents that are still to come.
        let asked = try inAdvance ? nil : RefreshRequest(configuration: configuration).sendIfPossible(sources)
        var object = JSONObject(accepted, of: sources)
        (object["daemon"], object["daemons"]) = (asked?.process, asked?.daemons)
        try output.show(object) {
            accepted.map { acceptance in
                guard let run = acceptance.run else { return TerminalLine(Self.inAdvance(acceptance)) }
                let next =
                    asked.map { "\($0.text) commits them now" } ?? "`tributary sync \(acceptance.source)` commits them"
                return "\(acceptance.source): the documents of run \(run) are accepted; \(next)"
            }
        }
    }

    private static func inAdvance(_ acceptance: Acceptance) -> String {
        "\(acceptance.source): its next commit within a day may delete and change any number of rows"
    }

    /// Shows what would be committed, with the blocked runs' own figures, and asks.
    private func ask(
        _ acceptances: [Acceptance], _ store: any MainStore, _ configuration: TributaryConfiguration
    ) throws {
        try confirmation.requireAnswer(json: output.json)
        let blocked = try acceptances.compactMap(\.run).compactMap { run in try store.read { try $0.runs.run(run) } }
        let reviews = blocked.map { configuration.review(of: $0) }
        var object = JSONObject(acceptances, of: [])
        // What would be committed, with `--dry-run`.
        object["changes"] = zip(blocked, reviews).compactMap { run, review in
            review.map { JSONObject(planOf: run.source, $0.total, PlanReport($0, limit: limit)) }
        }
        try output.show(object) {
            let terminal = Terminal()
            func wrapped(_ text: String) -> [TerminalLine] { terminal.wrapped(text, after: "", indent: 4) }
            var lines = acceptances.filter { $0.run == nil }.flatMap { wrapped(Self.inAdvance($0)) }
            for (run, review) in zip(blocked, reviews) {
                lines += wrapped("\(run.source): accept commits run \(run.number ?? 0):")
                if let error = run.error { lines += wrapped(AcceptAdvice.removed(from: error)) }
                lines +=
                    review.map { PlanReport($0, limit: limit).changes(on: terminal) }
                    ?? ["the changes of this run were not kept"]
            }
            return lines
        }
        try confirmation.ask("Accept \(acceptances.map(\.source).joined(separator: ", "))?")
    }
}
