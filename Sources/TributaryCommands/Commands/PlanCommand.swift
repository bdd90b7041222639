import ArgumentParser
import FeedDeclarations
import FeedModel
import FeedStores
import Foundation
import TributaryEngine

struct PlanCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan", abstract: "Show what a refresh of a source would change, and commit nothing.",
        discussion: """
            Fetches and parses as `sync` does and takes the merge back. Where tables would be created first, it works on a copy \
            of the store. Exit status: 0 without a difference, 2 with one, 1 where the run would be discarded.

            Examples:
              tributary plan shop
              tributary plan shop --body feed=changed.xml
            """)

    @OptionGroup var options: GlobalOptions

    @Argument(help: "The source.")
    var source: String

    @Option(
        name: .long, parsing: .singleValue,
        help: ArgumentHelp("Read this file instead of what the request would be answered.", valueName: "key=file"))
    var body: [String] = []

    @Flag(name: .long, help: "Ignore validators: fetch and parse everything.")
    var full = false

    @Option(name: .long, help: "Changes to show of a table and kind; 0 for all. Counts are always of all.")
    var limit = 100

    @Flag(name: .long, help: "Print a JSON object.")
    var json = false

    func run(_ program: Program) async throws {
        let configuration = try program.configuration(options)
        try SyncCommand.check([source], in: configuration)
        guard let declaration = configuration[source: source] else { return }
        let bodies = try files(for: declaration)
        let full = full
        let differs = try await PlanRun(configuration: configuration, source: declaration, limit: limit, json: json)
            .run(program) { (service, onChange) async throws in
                try await service.plan(declaration, bodies: bodies, ignoresValidators: full, onChange: onChange)
            }
        if differs { throw ExitCode(2) }
    }

    /// Returns the URLs of the files that `--body` gives, by the requests' keys.
    private func files(for source: SourceDeclaration) throws -> [String: String] {
        var files: [String: String] = [:]
        for option in body {
            let parts = option.split(separator: "=", maxSplits: 1).map(String.init)
            let keys = source.requests.map(\.key)
            guard parts.count == 2, keys.contains(parts[0]) else {
                throw Failure.usage(
                    "--body \(option): write KEY=FILE, KEY being a request of '\(source.name)': \(keys.joined(separator: ", "))"
                )
            }
            guard FileManager.default.isReadableFile(atPath: parts[1]) else {
                throw Failure.usage("--body \(option): the file \(parts[1]) cannot be read")
            }
            files[parts[0]] = URL(fileURLWithPath: parts[1]).absoluteURL.absoluteString
        }
        return files
    }
}
