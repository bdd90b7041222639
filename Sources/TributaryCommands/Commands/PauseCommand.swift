import ArgumentParser
import FeedStores
import Foundation
import TributaryStores

struct PauseCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Fetch nothing for these sources until 'resume'.",
        discussion: """
            The rows stay. A run in progress ends as usual; 'accept', 'undo' and 'replay' still work. The pause outlives a \
            restart, a changed declaration and 'sync --force'.

            Example:
              tributary pause shop
            """)

    @OptionGroup var options: GlobalOptions

    @Argument(help: "The sources to pause.", completion: DeclaredNames.sources)
    var sources: [String]

    @OptionGroup var output: JSONOption

    func run(_ program: Program) async throws {
        let configuration = try program.configuration(options)
        try SyncCommand.check(sources, in: configuration)
        let paused = try configuration.withExistingStore(isWritten: true) { store in
            guard let store else {
                throw Failure.failed(
                    "the store does not exist yet, so no source can be paused; `enabled = false` disables one")
            }
            return try store.write { try $0.sources.pause(sources, now: Date()) }
        }
        try output.show(["paused": paused]) {
            sources.map {
                paused.contains($0)
                    ? "\($0) is paused; `tributary resume \($0)` runs it again" : "\($0) is paused already"
            }
        }
    }
}
