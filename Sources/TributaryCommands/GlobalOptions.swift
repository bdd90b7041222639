import ArgumentParser
import Foundation

/// The options of every command.
struct GlobalOptions: ParsableArguments {
    @Option(
        name: [.customShort("c"), .long],
        help: ArgumentHelp(
            "The configuration file (default: $TRIBUTARY_CONFIG, else ./sources.toml, else /etc/tributary/sources.toml).",
            valueName: "file"),
        completion: .file(extensions: ["toml"]))
    var config: String?

    var configurationFile: String {
        if let config { return config }
        if let named = ProcessInfo.processInfo.environment["TRIBUTARY_CONFIG"], !named.isEmpty { return named }
        let system = "/etc/tributary/sources.toml"
        let isOnlySystem =
            !FileManager.default.fileExists(atPath: "sources.toml") && FileManager.default.fileExists(atPath: system)
        return isOnlySystem ? system : "sources.toml"
    }
}
