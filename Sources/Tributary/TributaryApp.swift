public import FeedParsing
public import GRDB
import TributaryCommands
import TributaryEngine

/// A program with every command of Tributary and parsers of its own.
///
/// ```swift
/// @main struct ContactsDaemon: TributaryApp {
///     static let parsers: [FeedParser.Type] = [CompaniesParser.self, ContactsParser.self]
///
///     static func registerMigrations(in migrator: inout DatabaseMigrator) {
///         migrator.registerMigration("contacts") { db in
///             try db.create(table: "contact") { table in … }
///         }
///     }
/// }
/// ```
public protocol TributaryApp: SendableMetatype {
    /// The classes that `sources.toml` may name, each by its own name. Two of the same name are a programmer's error.
    static var parsers: [FeedParser.Type] { get }

    /// Parsers made from record types, which `sources.toml` may name too: `[RecordParser<Food>(element: "food")]`.
    static var records: [any RecordParsing] { get }

    /// Adds the program's migrations to the main store. Optional, as a schema file can do the same.
    static func registerMigrations(in migrator: inout DatabaseMigrator)
}

extension TributaryApp {
    public static var records: [any RecordParsing] { [] }

    public static func registerMigrations(in migrator: inout DatabaseMigrator) {}

    /// Runs the command that the program's arguments name, and exits with its status: 0 done, 1 some source was
    /// discarded, 64 usage, 78 configuration.
    ///
    /// `@concurrent`: `@main` does not find a function that runs on its caller's actor.
    @concurrent
    public static func main() async {
        await Program(parsers: ParserRegistry(parsers, records: records), registerMigrations: Self.registerMigrations)
            .main()
    }
}
