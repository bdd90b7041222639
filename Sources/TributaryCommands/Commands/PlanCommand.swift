import ArgumentParser
import FeedConfiguration
import Foundation
import TributaryEngine

struct PlanCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan", abstract: "Show what a refresh of a source will change, and commit nothing.",
        discussion: """
            Fetches and parses as `sync` does, and shows the changes of a commit without committing them. Exit status: \
            0 without differences, 2 with differences, 1 if the run will be discarded.

            Examples:
              tributary plan shop
              tributary plan shop --body feed=changed.xml
              curl https://www.example.com/feed.xml | tributary plan shop --body feed=-
            """)

    @OptionGroup var options: GlobalOptions

    @Argument(help: "The source; optional if the file declares only one.", completion: DeclaredNames.sources)
    var source: String?

    @Option(
        name: .long, parsing: .singleValue,
        help: ArgumentHelp(
            "Read this file, or standard input for -, instead of the response to the request with this key.",
            valueName: "key=file"))
    var body: [String] = []

    @Flag(name: .long, help: "Ignore validators: fetch and parse everything.")
    var full = false

    @OptionGroup var span: SpanOptions

    @Option(name: .long, help: "Changes to show per table and kind; 0 for all. Counts include all rows.")
    var limit = 100

    @OptionGroup var output: JSONOption

    func run(_ program: Program) async throws {
        var configuration = try program.writingConfiguration(options)
        let enabled = configuration.sources.filter(\.isEnabled).map(\.name)
        guard let source = source ?? (enabled.count == 1 ? enabled[0] : nil) else {
            guard !enabled.isEmpty else { throw Failure.usage("\(configuration.file) declares no enabled source") }
            throw Failure.usage("name a source of \(configuration.file); it has: \(SyncCommand.some(enabled))")
        }
        configuration = try span.loading([source], in: configuration) ?? configuration
        let declaration = try SyncCommand.declared(source, in: configuration)
        let plan = PlanRun(
            configuration: configuration, source: declaration, limit: limit, json: output.json,
            showsNext: body.isEmpty && !span.isGiven)
        let differs: Bool
        if body.contains(where: { $0.hasSuffix("=" + StandardInput.name) }) {
            differs = try await StandardInput.asFile { try await run(plan, program, input: $0) }
        } else {
            differs = try await run(plan, program, input: nil)
        }
        if differs { throw ExitCode(2) }
    }

    /// - Parameter input: the file with what standard input has brought.
    private func run(_ plan: PlanRun, _ program: Program, input: String?) async throws -> Bool {
        let (source, full) = (plan.source, full)
        let bodies = try files(for: source, input: input)
        return try await plan.run(program) { (service, onChange) async throws in
            try await service.plan(source, bodies: bodies, ignoresValidators: full, onChange: onChange)
        }
    }

    /// Returns the URLs of the files that `--body` gives, by the requests' keys.
    private func files(for source: SourceDeclaration, input: String?) throws -> [String: String] {
        var files: [String: String] = [:]
        for option in body {
            let parts = option.split(separator: "=", maxSplits: 1).map(String.init)
            let keys = source.requests.map(\.key)
            let known = keys.joined(separator: ", ")
            guard parts.count == 2 else {
                throw Failure.usage(
                    "--body \(option): write KEY=FILE, KEY being a request of '\(source.name)': \(known)")
            }
            guard keys.contains(parts[0]) else {
                throw Failure.usage("--body \(option): '\(source.name)' has no request '\(parts[0])'; it has \(known)")
            }
            let path = parts[1] == StandardInput.name ? input ?? parts[1] : parts[1]
            guard FileManager.default.fileExists(atPath: path) else {
                throw Failure.usage("--body \(option): the file \(path) does not exist")
            }
            guard FileManager.default.isReadableFile(atPath: path) else {
                throw Failure.usage("--body \(option): the file \(path) cannot be read")
            }
            files[parts[0]] = URL(fileURLWithPath: path).absoluteURL.absoluteString
        }
        return files
    }
}
