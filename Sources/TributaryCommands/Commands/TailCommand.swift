import ArgumentParser
import FeedDeclarations
import FeedStores
import Foundation
import TributaryStores

struct TailCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "tail", abstract: "Show the changelog: each changed row, and the end of each commit.",
        discussion: """
            Rows have ids. Give the last one that you have read as '--after', and nothing is missed: a line says so where rows \
            after it are forgotten. '--follow' goes on until SIGINT or SIGTERM, or until the output is closed.

            Example:
              tributary tail shop --follow
            """)

    @OptionGroup var options: GlobalOptions

    @Argument(help: "Only these sources; all by default.", completion: DeclaredNames.sources)
    var sources: [String] = []

    @Option(name: .long, help: ArgumentHelp("Begin behind the row with this id.", valueName: "id"))
    var after: Int64?

    @Flag(name: .long, help: "Go on as commits come.")
    var follow = false

    @Flag(name: .long, help: "Print a JSON object a line.")
    var json = false

    func validate() throws {
        if let after, after < 0 { throw ValidationError("--after must not be below 0") }
    }

    func run(_ program: Program) async throws {
        let configuration = try program.configuration(options)
        try SyncCommand.check(sources, in: configuration, mayBeOff: true)
        guard let store = try configuration.openExistingStore() else {
            throw Failure.failed("there is no store yet: \(configuration.localPath)")
        }
        defer { try? store.close() }
        let tail = ChangelogTail(store, sources: Set(sources), after: after, follows: follow, isJSON: json)
        try await untilSignalled {
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                    Thread.detachNewThread { continuation.resume(with: Result { try tail.run() }) }
                }
            } onCancel: {
                tail.stop()
                store.stopWaiting()
            }
        }
    }
}
