import ArgumentParser
import Foundation
import FeedModel

/// The options of every command.
struct GlobalOptions: ParsableArguments {
    @Option(
        name: [.customShort("c"), .long],
        help: ArgumentHelp(
            "The configuration file (default: $TRIBUTARY_CONFIG, else ./sources.toml, else /etc/tributary/sources.toml).",
            valueName: "file"),
        completion: .file(extensions: ["toml"]))
    var config: String?

    @Option(
        name: .long,
        help:
            "When to use colours: auto, always or never. auto uses them on a terminal, unless NO_COLOR is set."
    )
    var color = Terminal.ColorChoice.auto

    @Flag(name: .shortAndLong, help: "Print only errors. sync also prints sources that failed or wait after a failure.")
    var quiet = false

    @Flag(name: .shortAndLong, help: "Print more: each request of a run, each source of a file.")
    var verbose = false

    mutating func validate() throws {
        guard !quiet || !verbose else { throw ValidationError("give either --quiet or --verbose") }
        Terminal.colorChoice.withLock { [color] in $0 = color }
        Terminal.verbosity.withLock { [quiet, verbose] in $0 = quiet ? .quiet : verbose ? .verbose : .normal }
    }

    var configurationFile: String { Self.file(config) }

    /// Returns the path of the configuration file.
    ///
    /// - Parameter named: as the command line has it; nil where it does not name one.
    static func file(_ named: String?) -> String {
        if let named { return named }
        if let named = ProcessInfo.processInfo.environment["TRIBUTARY_CONFIG"], !named.isEmpty { return named }
        let system = "/etc/tributary/sources.toml"
        let isOnlySystem =
            !FileManager.default.fileExists(atPath: "sources.toml") && FileManager.default.fileExists(atPath: system)
        return isOnlySystem ? system : "sources.toml"
    }
}
