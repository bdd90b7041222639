import ArgumentParser
import FeedConfiguration
import FeedModel
import FeedStores
import Foundation
import TributaryEngine

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

    @OptionGroup var output: JSONOption

    func run(_ program: Program) async throws {
        let configuration = try program.configuration(options)
        let store = try configuration.openedStore(isWritten: true)
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
        var purge = try configuration.purge(of: source, in: store, parsers: program.parsers, now: Date())
        let next = configuration[source: source]?.isEnabled == true ? Self.next : nil
        if !confirmation.yes {
            let trial = try store.purge(purge, isTrial: true)
            let lines = Self.lines(trial, isDone: false)
            try confirmation.requireAnswer(json: output.json, shown: lines)
            try output.show(object(trial)) { lines.flatMap { Terminal().wrapped($0, after: "", indent: 4) } }
            try confirmation.ask("Purge \(source)?\(next.map { " It \($0)." } ?? "")")
            purge.shown = trial.digest
        }
        let report = try store.purge(purge, isTrial: false)
        let refetched = report.refetched.filter { configuration[source: $0]?.isEnabled == true }.sorted()
        do {
            if !refetched.isEmpty { _ = try RefreshRequest(configuration: configuration).sendIfPossible(refetched) }
        } catch {
            // What is purged is purged.
            Failure.warn("the daemon does not know that it is to fetch \(refetched.joined(separator: ", ")): \(error)")
        }
        let left = configuration.removeBodies(of: source)
        try output.show(object(report)) {
            Self.lines(report, isDone: true).map { TerminalLine($0) }
                + ["\(source) is purged\(next.map { "; it \($0)" } ?? "")"]
        }
        guard left.isEmpty else {
            throw Failure.failed("these files could not be removed: \(left.joined(separator: ", "))")
        }
    }

    /// What follows for a source that runs again.
    private static let next = "is still declared, so its next run fetches it in full"

    private func object(_ report: PurgeReport) -> JSONObject {
        let tables = report.tables.map { table -> JSONObject in
            ["table": table.name, "deleted": table.deleted, "shared": table.shared, "unknown": table.unknown]
        }
        return [
            "source": source, "deleted": report.run.counts.deleted, "tables": tables,
            "refetched": report.refetched.sorted(),
        ]
    }

    /// Returns a line for each table, for people.
    ///
    /// - Parameter isDone: false where the report is of what would be done.
    private static func lines(_ report: PurgeReport, isDone: Bool) -> [String] {
        let lines = report.tables.sorted { $0.name < $1.name }.map { table in
            var parts = [
                "table '\(table.name)': \(Figures.count(table.deleted, "row")) \(isDone ? "deleted" : "to delete")"
            ]
            if table.shared > 0 { parts.append("\(table.shared) stay that other sources have written or mirror, too") }
            if table.unknown > 0 {
                parts.append(
                    table.lacksKey
                        ? "\(table.unknown) stay, as the table has no key by which the changelog could name them"
                        : "\(table.unknown) stay without an entry of this source in the changelog")
            }
            return parts.joined(separator: "; ")
        }
        guard !report.refetched.isEmpty else { return lines }
        let names = report.refetched.sorted().joined(separator: ", ")
        let (writes, fetches) =
            report.refetched.count == 1 ? ("writes", "fetches its") : ("write", "fetch their")
        let will = report.refetched.count == 1 ? "will fetch its" : "will fetch their"
        return lines + ["\(names), which \(writes) these tables, too, \(isDone ? fetches : will) feeds in full"]
    }
}
