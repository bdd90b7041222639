import ArgumentParser
import FeedModel
import Foundation
import TributaryEngine

/// The command `tributary`, by whatever name the program has.
struct RootCommand: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: URL(fileURLWithPath: CommandLine.arguments.first ?? "tributary").lastPathComponent,
            abstract: "Keeps one relational store in step with many remote feeds.",
            discussion: """
                Exit status: 0 done; 1 a run was discarded or blocked; 2 a preview found a difference; 64 wrong usage; 74 the \
                output cannot be written, or the daemon's store was replaced while it ran; 78 wrong configuration; 130, 143 \
                SIGINT or SIGTERM stopped the command.
                """,
            version: "tributary \(TributaryVersion.full)",
            groupedSubcommands: [
                CommandGroup(
                    name: "Daily",
                    subcommands: [
                        StatusCommand.self, HistoryCommand.self, PlanCommand.self, RefreshCommand.self,
                        AcceptCommand.self,
                    ]),
                CommandGroup(name: "Start", subcommands: [InitCommand.self, InferCommand.self, CheckCommand.self]),
                CommandGroup(
                    name: "Run",
                    subcommands: [RunCommand.self, SyncCommand.self, HealthcheckCommand.self, HookCommand.self]),
                CommandGroup(
                    name: "Look", subcommands: [ChangesCommand.self, TailCommand.self, ExportCommand.self]),
                CommandGroup(
                    name: "Decide",
                    subcommands: [PauseCommand.self, ResumeCommand.self, UndoCommand.self, ReplayCommand.self]),
                CommandGroup(
                    name: "Keep",
                    subcommands: [
                        BackupCommand.self, RestoreCommand.self, MigrateCommand.self, MoveStoreCommand.self,
                        PurgeCommand.self,
                    ]),
            ])
    }

    /// Returns the command that arguments name.
    ///
    /// - Throws: what `parseAsRoot` throws; a ``Failure`` where the arguments begin with the name of no command.
    static func parse(_ arguments: ArraySlice<String>) throws -> any ParsableCommand {
        do {
            return try parseAsRoot(Array(arguments))
        } catch  where exitCode(for: error) == .validationFailure {
            throw unknownCommand(arguments) ?? negativeValue(arguments) ?? error
        }
    }

    /// - Returns: nil where the arguments begin with the name of a command, or with none.
    private static func unknownCommand(_ arguments: ArraySlice<String>) -> Failure? {
        var rest = arguments
        while let first = rest.first, first.hasPrefix("-") {
            rest = rest.dropFirst(["-c", "--config", "--color"].contains(first) ? 2 : 1)
        }
        let names = configuration.subcommands.compactMap { $0.configuration.commandName } + ["help"]
        guard let name = rest.first, !names.contains(name) else { return nil }
        let program = configuration.commandName ?? "tributary"
        let hint = nearestName(to: name, among: names).map { "did you mean '\($0)'?" }
        return .usage("there is no command '\(name)'; \(hint ?? "`\(program) --help` lists them")")
    }

    /// - Returns: the error of an option with a negative number, which the parser takes for another option; nil without one.
    private static func negativeValue(_ arguments: ArraySlice<String>) -> Failure? {
        let pairs = zip(arguments, arguments.dropFirst())
        let pair = pairs.first { $0.hasPrefix("--") && $1.hasPrefix("-") && Int($1) != nil }
        return pair.map { Failure.usage("\($0.0): a negative number is not allowed, found \($0.1)") }
    }

    @OptionGroup var options: GlobalOptions
}
