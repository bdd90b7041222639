import ArgumentParser
import FeedConfiguration
import FeedModel
import FeedStores
import TributaryEngine

struct SyncCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync", abstract: "Refresh sources once and exit.",
        discussion: """
            Sources that are not due are not fetched.

            Examples:
              tributary sync
              tributary sync shop --force
              tributary sync shop --from 2025-01-01 --to 2025-02-01
            """)

    @OptionGroup var options: GlobalOptions

    @Argument(help: "The sources to refresh; by default all enabled sources.", completion: DeclaredNames.sources)
    var sources: [String] = []

    @Flag(name: .long, help: "Ignore cache intervals and back-off.")
    var force = false

    @Flag(name: .long, help: "Like --force, and ignore validators: fetch and parse everything.")
    var full = false

    @OptionGroup var span: SpanOptions

    @Flag(name: .long, help: "Print one JSON object per run on a line.")
    var json = false

    func run(_ program: Program) async throws {
        let configuration = try program.writingConfiguration(options)
        try Self.check(sources, in: configuration)
        let span = try span.loading(sources, in: configuration)
        let run = SyncRun(
            configuration: span ?? configuration, sources: sources,
            mode: full ? .full : force || span != nil ? .force : .whenDue, json: json)
        guard try await run.run(program) else { throw ExitCode(1) }
    }

    /// Returns which of some names was meant: the nearest one, else a few of them.
    static func hint(_ name: String, _ known: [String]) -> String {
        if let nearest = nearestName(to: name, among: known) { return "did you mean '\(nearest)'?" }
        return "it has: " + some(known)
    }

    /// Returns the first ten of some names, and the number of the others.
    static func some(_ names: [String]) -> String {
        let most = 10
        let rest = names.count > most ? ", and \(names.count - most) more" : ""
        return names.isEmpty ? "none" : names.prefix(most).joined(separator: ", ") + rest
    }

    /// Checks the name of a source that may no longer be declared, and may still have a history.
    ///
    /// - Throws: ``Failure`` if it is not declared and has no run. `StoreError`.
    static func checkKnown(_ name: String, in configuration: TributaryConfiguration) throws {
        guard configuration[source: name] == nil,
            try configuration.reading({ try $0.runs.last(of: name, limit: 1) })?.isEmpty ?? true
        else { return }
        throw Failure.usage(
            "there is no source '\(name)' in \(configuration.file), nor has there been a run of it; "
                + hint(name, configuration.sources.map(\.name)))
    }

    /// - Parameter mayBeOff: true for commands that only show.
    /// - Throws: ``Failure`` if a name is not a source's, or its source is disabled.
    static func check(_ names: [String], in configuration: TributaryConfiguration, mayBeOff: Bool = false) throws {
        for name in names { _ = try declared(name, in: configuration, mayBeOff: mayBeOff) }
    }

    /// Returns the source of a name.
    ///
    /// - Throws: as ``check(_:in:mayBeOff:)``.
    static func declared(
        _ name: String, in configuration: TributaryConfiguration, mayBeOff: Bool = false
    ) throws -> SourceDeclaration {
        guard let source = configuration[source: name] else {
            throw Failure.usage(
                "there is no source '\(name)' in \(configuration.file); \(hint(name, configuration.sources.map(\.name)))"
            )
        }
        guard source.isEnabled || mayBeOff else {
            throw Failure.usage("the source '\(name)' is disabled in \(configuration.file) (enabled = false)")
        }
        return source
    }
}
