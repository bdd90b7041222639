import ArgumentParser
import FeedStores
import TributaryEngine
import TributaryStores

struct ResumeCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Run paused sources again.",
        discussion: """
            A source is paused after 'pause', after the process died three times in a row during its runs, and after 'undo', \
            until its feed differs from the undone version. A running daemon refreshes resumed sources at once.

            Example:
              tributary resume shop
            """)

    @OptionGroup var options: GlobalOptions

    @Argument(help: "The sources to resume.", completion: DeclaredNames.sources)
    var sources: [String]

    @OptionGroup var output: JSONOption

    func run(_ program: Program) async throws {
        let configuration = try program.configuration(options)
        try SyncCommand.check(sources, in: configuration)
        let resumed = try configuration.withExistingStore(isWritten: true) {
            try $0?.write { try $0.sources.resume(sources) } ?? []
        }
        let asked = try resumed.isEmpty ? nil : RefreshRequest(configuration: configuration).sendIfPossible(resumed)
        let object: JSONObject = ["resumed": resumed, "daemon": asked?.process, "daemons": asked?.daemons]
        try output.show(object) {
            sources.map {
                resumed.contains($0)
                    ? "\($0) is resumed\(asked.map { "; \($0.text) refreshes it now" } ?? "")" : "\($0) is not paused"
            }
        }
    }
}
