import ArgumentParser
import FeedConfiguration
import FeedModel
import FeedStores
import Foundation
import TributaryEngine
import TributaryStores

struct MigrateCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Change a source's tables to their declaration, and keep the rows.",
        discussion: """
            If the declared type of a column or the key of a table has changed, the source's runs fail until you \
            migrate its tables. Shows the SQL that changes the tables, asks, and runs it in one transaction. If a \
            value does not convert, or rows have the same new key, the error names them and nothing is changed. A \
            daemon may run meanwhile; it refreshes the source afterwards.

            Example:
              tributary migrate shop
            """)

    @OptionGroup var options: GlobalOptions
    @OptionGroup var confirmation: ConfirmationOptions

    @Argument(help: "The source whose tables are changed.", completion: DeclaredNames.sources)
    var source: String

    @OptionGroup var output: JSONOption

    func run(_ program: Program) async throws {
        let configuration = try program.configuration(options)
        let declaration = try SyncCommand.declared(source, in: configuration)
        let migrations = try await migrations(of: declaration, in: configuration, program, isDone: confirmation.yes)
        if !migrations.isEmpty || output.json { try show(migrations, isDone: confirmation.yes) }
        guard !migrations.isEmpty else {
            try await checkTables(of: declaration, in: configuration)
            if !output.json { try show(migrations, isDone: confirmation.yes) }
            return
        }
        if !confirmation.yes {
            try confirmation.requireAnswer(json: output.json)
            try confirmation.ask("Change the tables of \(source) so, all or nothing?")
            try show(await self.migrations(of: declaration, in: configuration, program, isDone: true), isDone: true)
        }
        try await checkTables(of: declaration, in: configuration)
        _ = try RefreshRequest(configuration: configuration).sendIfPossible([source])
    }

    /// Returns how the tables differ from their declarations.
    ///
    /// - Parameter isDone: true where the tables are changed, too.
    private func migrations(
        of declaration: SourceDeclaration, in configuration: TributaryConfiguration, _ program: Program, isDone: Bool
    ) async throws -> [TableMigration] {
        let store = try configuration.openedStore(isWritten: isDone)
        return try await SystemThreads().run {
            defer { try? store.close() }
            return isDone
                ? try declaration.migrate(store, in: configuration, parsers: program.parsers, at: Date())
                : try store.migrations(to: declaration.schemas)
        }
    }

    /// - Throws: ``StoreError`` if the next run would be discarded because of the tables, with the reasons.
    private func checkTables(of declaration: SourceDeclaration, in configuration: TributaryConfiguration) async throws {
        guard let store = try configuration.openExistingStore(isWritten: false) else { return }
        let mistakes = try await SystemThreads().run {
            defer { try? store.close() }
            return try store.differences(from: declaration.schemas)
        }
        guard mistakes.isEmpty else { throw StoreError(mistakes) }
    }

    private func show(_ migrations: [TableMigration], isDone: Bool) throws {
        let tables = migrations.map { ["table": $0.table, "changes": $0.changes, "sql": $0.statements] as JSONObject }
        let object: JSONObject = ["source": source, "migrated": isDone && !tables.isEmpty, "tables": tables]
        try output.show(object) {
            lines(migrations, isDone: isDone).flatMap { $0.split(separator: "\n") }.map { TerminalLine(String($0)) }
        }
    }

    private func lines(_ migrations: [TableMigration], isDone: Bool) -> [String] {
        guard !migrations.isEmpty else { return ["the tables of \(source) are as declared"] }
        var lines = migrations.flatMap { migration in
            ["-- \(migration.table): \(migration.changes.joined(separator: "; "))"]
                + (isDone ? [] : migration.statements.map { $0 + ";" })
        }
        lines.append(
            isDone
                ? "done; all rows are kept, and the source is due: its next run fetches its documents in full"
                : "-- nothing is changed yet: `tributary migrate \(source) --yes` runs these statements in one transaction"
        )
        return lines
    }
}
