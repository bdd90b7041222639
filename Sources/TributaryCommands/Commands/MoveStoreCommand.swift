import ArgumentParser
import FeedConfiguration
import FeedInferring
import FeedModel
import FeedStores
import Foundation
import TributaryEngine
import TributaryStores

struct MoveStoreCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "move-store",
        abstract: "Copy the sources' rows, validators, due times and runs to another store.",
        discussion: """
            The other store is an SQLite file or a PostgreSQL database. Counts the rows of the copy; on an error, \
            copies nothing. Fetches nothing, and changes neither the old store nor sources.toml. Stop the \
            daemons first.

            Example:
              tributary move-store --to 'postgresql:///feeds'
            """)

    @OptionGroup var options: GlobalOptions
    @OptionGroup var confirmation: ConfirmationOptions

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The new store: the path of a file, or a libpq connection string (postgresql://…, host=… dbname=…).",
            valueName: "path|url"))
    var to: String

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The new store's schema, if the schema of [store] is for the other kind of store.", valueName: "file"))
    var schema: String?

    @OptionGroup var output: JSONOption

    func run(_ program: Program) async throws {
        let old = try program.configuration(options)
        let new = try old.moved(to: StoreLocation(argument: to), schema: schema)
        if case .file(let path) = old.store, case .file(let target) = new.store,
            URL(fileURLWithPath: path).resolvingSymlinksInPath().path
                == URL(fileURLWithPath: target).resolvingSymlinksInPath().path
        {
            throw Failure.usage("\(to) is the store that is declared; move to another one")
        }
        for configuration in [old, new] {
            if let holder = DaemonFolder(configuration)?.holder() {
                throw Failure.failed(
                    holder.isDaemon
                        ? "a daemon runs on \(configuration.localPath); stop it first"
                        : "\(holder) has \(configuration.localPath); wait for its end")
            }
        }
        if !confirmation.yes { try ask(old, to: new) }
        let report = try await Self.move(program, from: old, to: new)
        let object: JSONObject = [
            "tables": report.tables.map { ["table": $0.name, "rows": $0.rows] as JSONObject },
            "sources": report.sources, "requests": report.requests, "runs": report.runs, "changes": report.changes,
        ]
        try output.show(object) { lines(report, from: old, to: new) }
    }

    /// Shows from where to where everything would be copied, and asks.
    private func ask(_ old: TributaryConfiguration, to new: TributaryConfiguration) throws {
        try old.checkMove(to: new)
        func place(_ configuration: TributaryConfiguration) -> String {
            switch configuration.store {
            case .file(let path): path
            // It may hold a password.
            case .server: "the database on a server"
            }
        }
        let line =
            "copies the rows, validators, due times and runs of \(Figures.count(old.sources.count, "source")) from "
            + "\(place(old)) into \(place(new)); the old store stays as it is\(Self.left(by: old).map { ", and \($0)" } ?? "")"
        try confirmation.requireAnswer(json: output.json, shown: [line])
        if !output.json { try Terminal.print(TerminalLine(line)) }
        try confirmation.ask("Copy it?")
    }

    /// Moves on a thread of its own, until a signal comes.
    private static func move(
        _ program: Program, from old: TributaryConfiguration, to new: TributaryConfiguration
    ) async throws -> StoreMoveReport {
        let stop = Stop()
        do {
            return try await untilSignalled {
                try await withTaskCancellationHandler {
                    try await SystemThreads().run {
                        try old.moveStore(
                            to: new, parsers: program.parsers, registerMigrations: program.registerMigrations,
                            stop: stop)
                    }
                } onCancel: {
                    stop.request()
                }
            }
        } catch {
            guard stop.isRequested else { throw error }
            throw Failure.failed("stopped by a signal; nothing was moved")
        }
    }

    private func lines(
        _ report: StoreMoveReport, from old: TributaryConfiguration, to new: TributaryConfiguration
    ) -> [TerminalLine] {
        var table = TextTable([("TABLE", .left), ("ROWS", .right)])
        for (name, rows) in report.tables { table.add(["\(name)", "\(rows)"]) }
        var lines = report.tables.isEmpty ? [] : table.lines(on: Terminal()) + [""]
        let counts = [
            Figures.count(report.sources, "source"), Figures.count(report.requests, "request"),
            Figures.count(report.runs, "run"),
        ]
        lines += [
            """
            \(counts.joined(separator: ", ")) and \(Figures.count(report.changes, "row")) of the changelog. \
            All rows are there; the old store is unchanged.
            """
        ]
        if let left = Self.left(by: old) { lines.append("In the old store, \(left).") }
        lines += ["", "Write into [store] of \(old.file):"]
        switch new.store {
        case .file(let path): lines.append("path   = \(TOMLText.quoted(path))")
        // It may hold a password.
        case .server: lines.append("url    = \"…\"   # the connection string that was given as --to")
        }
        if let path = new.schemaPath { lines.append("schema = \(TOMLText.quoted(path))") }
        if old.schemaAfterPath != nil, new.schemaAfterPath == nil {
            lines.append("and a file in \(new.store.kind)'s SQL as schema_after")
        }
        switch (old.store, new.store) {
        case (.file, .server): lines.append("and take out path")
        case (.server, .file): lines.append("and take out url")
        case (.file, .file), (.server, .server): break
        }
        return lines
    }

    /// Says which former values stay in the old store; nil without any.
    private static func left(by old: TributaryConfiguration) -> String? {
        guard old.sources.contains(where: \.keepsHistory) else { return nil }
        return
            "the former values of rows (`keep_history`) stay there: no run before the move can be undone in the new one"
    }
}
