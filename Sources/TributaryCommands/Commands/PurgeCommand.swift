import ArgumentParser
import FeedDeclarations
import FeedModel
import FeedStores
import Foundation
import TributaryEngine
import TributaryStores

struct PurgeCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge", abstract: "Delete the rows that only this source wrote, and its state.",
        discussion: """
            Deletes the rows that only this source wrote, according to the changelog or a mirror's scope, and the \
            source's validators, due time and kept bodies. Records this as a run. Rows that other sources have also \
            written are kept.

            Example:
              tributary purge shop
            """)

    @OptionGroup var options: GlobalOptions
    @OptionGroup var confirmation: ConfirmationOptions

    @Argument(help: "The source, declared or not.", completion: DeclaredNames.sources)
    var source: String

    @Flag(name: .long, help: "Print a JSON object.")
    var json = false

    func run(_ program: Program) async throws {
        let configuration = try program.configuration(options)
        guard let store = try configuration.openExistingStore(isWritten: true) else {
            throw Failure.failed("there is no store yet, so that there is nothing to purge")
        }
        defer { try? store.close() }
        let stored = try store.sourceStates()
        guard configuration[source: source] != nil || stored[source] != nil else {
            throw Failure.usage(
                "there is no source '\(source)', neither in \(configuration.file) nor in the store; "
                    + SyncCommand.hint(source, stored.keys.sorted()))
        }
        guard let claim = try store.claim(source) else {
            throw Failure.failed(
                "\(source) is being run at this moment; wait for the end of the run, or stop the process that runs it")
        }
        defer { claim.unlock() }
        var purge = try SourcePurge(source: source, configuration: configuration, store: store)
            .purge(parsers: program.parsers, now: Date())
        if !confirmation.yes {
            let trial = try store.purge(purge, isTrial: true)
            try ask(trial, configuration)
            purge.shown = trial.digest
        }
        let report = try store.purge(purge, isTrial: false)
        let left = configuration.removeBodies(of: source)
        if json {
            try Terminal.printJSON(PurgeOutput(source: source, report: report))
        } else {
            for line in PurgeOutput.lines(report, isDone: true) { try Terminal.print(TerminalLine(line)) }
            try Terminal.print("\(source) is purged\(hint(configuration))")
        }
        guard left.isEmpty else {
            throw Failure.failed("these files could not be removed: \(left.joined(separator: ", "))")
        }
    }

    /// Shows what would be deleted, and asks whether that is meant.
    private func ask(_ report: PurgeReport, _ configuration: TributaryConfiguration) throws {
        let lines = PurgeOutput.lines(report, isDone: false)
        try confirmation.requireAnswer(json: json, shown: lines)
        if json {
            try Terminal.printJSON(PurgeOutput(source: source, report: report))
        } else {
            for line in lines { try Terminal.print(TerminalLine(line)) }
        }
        try confirmation.ask("Purge \(source)\(hint(configuration))?")
    }

    private func hint(_ configuration: TributaryConfiguration) -> String {
        configuration[source: source]?.isEnabled == true
            ? ", which is still declared, and will be fetched in full when it runs" : ""
    }
}
