import ArgumentParser
import FeedDeclarations
import FeedModel
import FeedStores
import Foundation
import TributaryEngine
import TributaryStores

struct MigrateCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Make a source's tables as they are declared, and keep their rows.",
        discussion: """
            A column whose declared type has changed, or another key, stops the source's runs: its table is another one. \
            This shows the SQL that changes the table, and with --yes does it, in one transaction. A value that does not \
            convert, or rows that the new key does not tell apart, are named, and nothing is changed. A running daemon may go on: \
            no run of the source starts meanwhile, and it refreshes the source afterwards.

            Example:
              tributary migrate shop
            """)

    @OptionGroup var options: GlobalOptions

    @Argument(help: "The source whose tables are to be changed.")
    var source: String

    @Flag(name: .long, help: "Change the tables, rather than show how.")
    var yes = false

    @Flag(name: .long, help: "Print a JSON object.")
    var json = false

    private struct Result: Encodable {
        struct Table: Encodable {
            var table: String
            var changes: [String]
            var sql: [String]
        }

        var source: String
        var migrated: Bool
        var tables: [Table]
    }

    func run(_ program: Program) async throws {
        let configuration = try program.configuration(options)
        try SyncCommand.check([source], in: configuration)
        guard let declaration = configuration[source: source] else { return }
        guard let store = try configuration.openExistingStore(isWritten: yes) else {
            throw Failure.failed("there is no store yet, and so no table to change")
        }
        let isDone = yes
        let migrations = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Swift.Result {
                        defer { try? store.close() }
                        return isDone
                            ? try declaration.migrate(store, in: configuration, parsers: program.parsers)
                            : try store.migrations(to: declaration.schemas(file: configuration.file))
                    })
            }
        }
        if yes, !migrations.isEmpty { _ = try RefreshRequest(configuration: configuration).sendIfPossible([source]) }
        if json {
            let tables = migrations.map { Result.Table(table: $0.table, changes: $0.changes, sql: $0.statements) }
            return try Terminal.printJSON(Result(source: source, migrated: yes && !tables.isEmpty, tables: tables))
        }
        for line in lines(migrations) { try Terminal.print(TerminalLine(line)) }
    }

    private func lines(_ migrations: [TableMigration]) -> [String] {
        guard !migrations.isEmpty else { return ["the tables of \(source) are as declared"] }
        var lines = migrations.flatMap { migration in
            ["-- \(migration.table): \(migration.changes.joined(separator: "; "))"]
                + (yes ? [] : migration.statements.map { $0 + ";" })
        }
        lines.append(
            yes
                ? "done; all rows are kept, and the next run fetches the source's documents anew"
                : "-- nothing is changed yet: `tributary migrate \(source) --yes` does it, all or nothing")
        return lines
    }
}
