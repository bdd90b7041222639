public import FeedParsing
public import GRDB
import TributaryCommands
import TributaryEngine

/// A program with every command of Tributary and parsers of its own.
///
/// ```swift
/// struct Food: XMLRecord, FeedRecord {
///     static let databaseKey = ["id"]
///     var id: Int
///     var name: String
/// }
///
/// @main struct Menu: TributaryApp {
///     static let parsers: [Parser] = [.record(Food.self)]
/// }
/// ```
public protocol TributaryApp: SendableMetatype {
    /// The parsers that `sources.toml` may name: classes and record types. None by default. Two of the same name are a
    /// programmer's error.
    static var parsers: [Parser] { get }

    /// Adds the program's migrations to the main store. Optional, as a schema file can do the same.
    static func registerMigrations(in migrator: inout DatabaseMigrator)
}

extension TributaryApp {
    public static var parsers: [Parser] { [] }

    public static func registerMigrations(in migrator: inout DatabaseMigrator) {}

    /// Runs the command that the program's arguments name, and exits with its status: 0 done, 1 some source was
    /// discarded, 64 usage, 78 configuration.
    ///
    /// `@concurrent`: `@main` does not find a function that runs on its caller's actor.
    @concurrent
    public static func main() async {
        await Program(parsers: ParserRegistry(parsers), registerMigrations: Self.registerMigrations).main()
    }
}
