import ArgumentParser
import FeedModel
import Foundation
import TributaryEngine

/// The command `tributary`, by whatever name the program has.
struct RootCommand: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: URL(fileURLWithPath: CommandLine.arguments.first ?? "tributary").lastPathComponent,
            abstract: "Keeps one relational store in step with many remote XML feeds.",
            discussion: """
                Exit status: 0 done; 1 some source was discarded; 2 'plan' found a difference; 64 wrong usage; 74 the \
                output cannot be written, or the daemon's store was replaced while it ran; 78 wrong configuration.
                """,
            version: "tributary \(TributaryVersion.full)",
            subcommands: [
                RunCommand.self, SyncCommand.self, CheckCommand.self, StatusCommand.self, HistoryCommand.self,
                TailCommand.self, RefreshCommand.self, ReleaseCommand.self, AcceptCommand.self, PlanCommand.self,
                ReplayCommand.self, BackupCommand.self, RestoreCommand.self, PurgeCommand.self,
                ChangesCommand.self, UndoCommand.self, MoveStoreCommand.self, MigrateCommand.self,
                ExportCommand.self, InferCommand.self, HookCommand.self, HealthcheckCommand.self,
            ])
    }

    @OptionGroup var options: GlobalOptions
}
