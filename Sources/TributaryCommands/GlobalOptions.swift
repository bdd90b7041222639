import ArgumentParser
import Foundation

/// The options of every command.
struct GlobalOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The configuration file (default: ./sources.toml, else /etc/tributary/sources.toml).", valueName: "file"))
    var config: String?

    var configurationFile: String {
        if let config { return config }
        let system = "/etc/tributary/sources.toml"
        let isOnlySystem =
            !FileManager.default.fileExists(atPath: "sources.toml") && FileManager.default.fileExists(atPath: system)
        return isOnlySystem ? system : "sources.toml"
    }
}
