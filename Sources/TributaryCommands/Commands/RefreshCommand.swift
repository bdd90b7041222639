import ArgumentParser
import FeedConfiguration
import FeedModel
import FeedStores
import Foundation
import TributaryEngine
import TributaryStores

struct RefreshCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh", abstract: "Make the running daemons refresh sources now.",
        discussion: """
            Returns at once; `status` and `history` show the result.

            Example:
              tributary refresh shop
            """)

    @OptionGroup var options: GlobalOptions

    @Argument(help: "The sources to refresh; by default all enabled sources.", completion: DeclaredNames.sources)
    var sources: [String] = []

    @OptionGroup var output: JSONOption

    func run(_ program: Program) async throws {
        let configuration = try program.storeConfiguration(options)
        try SyncCommand.check(sources, in: configuration)
        let states = try sources.isEmpty ? [:] : configuration.reading { try $0.sources.all() } ?? [:]
        let stopped = sources.first { name in
            states[name].map { configuration[source: name]?.waitsForResume(in: $0) ?? $0.isStopped } ?? false
        }
        if let stopped { throw Failure.failed("\(stopped) is paused; `tributary resume \(stopped)` runs it again") }
        let daemon = try RefreshRequest(configuration: configuration).send(sources)
        let asked = sources.isEmpty ? configuration.enabledSources.map(\.name) : sources
        // A host that has asked for a pause gets no request before its end, whatever people ask for.
        let waiting = try configuration.withExistingStore { store in
            try StoreStatus(configuration, only: asked, in: store, isDaemonRunning: true, now: Date()).sources
        }.filter { $0.wait?.reason == .host }
        let object: JSONObject = [
            "daemon": daemon.process, "daemons": daemon.daemons, "sources": asked,
            // The sources that their servers have asked to wait, and the ends of these waits.
            "waits": waiting.map { ["source": $0.state.source, "until": $0.wait?.until] as JSONObject },
        ]
        try output.show(object) {
            ["asked \(daemon.text) to refresh \(asked.joined(separator: ", "))"]
                + waiting.prefix(10).map { "\($0.state.source): \($0.wait?.text ?? "")" }
                + (waiting.count > 10 ? ["\(waiting.count - 10) more wait for their hosts"] : [])
        }
    }
}
