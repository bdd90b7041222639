import ArgumentParser
import FeedConfiguration
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
            throw Failure.failed(configuration.noStore)
        }
        defer { try? store.close() }
        let stored = try store.read { try $0.sources.all() }
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
        let isDeclared = configuration[source: source]?.isEnabled == true
        if !confirmation.yes {
            let trial = try store.purge(purge, isTrial: true)
            try ask(trial, isDeclared: isDeclared)
            purge.shown = trial.digest
        }
        let report = try store.purge(purge, isTrial: false)
        let left = configuration.removeBodies(of: source)
        if json {
            try Terminal.printJSON(PurgeOutput(source: source, report: report))
        } else {
            for line in PurgeOutput.lines(report, isDone: true) { try Terminal.print(TerminalLine(line)) }
            let next = isDeclared ? "; it \(Self.next)" : ""
            try Terminal.print("\(source) is purged\(next)")
        }
        guard left.isEmpty else {
            throw Failure.failed("these files could not be removed: \(left.joined(separator: ", "))")
        }
    }

    /// Shows what would be deleted, and asks whether that is meant.
    private func ask(_ report: PurgeReport, isDeclared: Bool) throws {
        let lines = PurgeOutput.lines(report, isDone: false)
        try confirmation.requireAnswer(json: json, shown: lines)
        if json {
            try Terminal.printJSON(PurgeOutput(source: source, report: report))
        } else {
            for line in lines { try Terminal.printWrapped(line) }
        }
        let next = isDeclared ? " It \(Self.next)." : ""
        try confirmation.ask("Purge \(source)?\(next)")
    }

    /// What follows for a source that runs again.
    private static let next = "is still declared, so its next run fetches it in full"
}
