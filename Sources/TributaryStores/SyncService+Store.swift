public import FeedConfiguration
public import FeedParsing
public import GRDB
public import Logging
import SQLiteStore
public import TributaryEngine

extension SyncService {
    /// Opens the store, and prepares it for the sources; blocks while it does.
    ///
    /// - Parameters:
    ///   - parsers: the classes that requests name.
    ///   - registerMigrations: adds the program's own migrations of a store in SQLite.
    ///   - onProgress: called with the progress of downloads, on the runs' own executors.
    /// - Throws: `StoreError` if the store cannot be opened, ``ConfigurationError`` if its schema file cannot be read.
    public convenience init(
        configuration: TributaryConfiguration, parsers: ParserRegistry, logger: Logger,
        registerMigrations: (inout DatabaseMigrator) -> Void = { _ in },
        onProgress: @escaping @Sendable (RunProgress) -> Void = { _ in }
    ) throws {
        try self.init(
            configuration: configuration, parsers: parsers, logger: logger, clock: SystemClock(),
            registerMigrations: registerMigrations, onProgress: onProgress)
    }

    package convenience init(
        configuration: TributaryConfiguration, parsers: ParserRegistry, logger: Logger, clock: any RunClock,
        recordWindow: Duration = RecordWindow.length,
        registerMigrations: (inout DatabaseMigrator) -> Void = { _ in },
        onProgress: @escaping @Sendable (RunProgress) -> Void = { _ in }
    ) throws {
        try self.init(
            configuration: configuration,
            store: configuration.openStore(schema: configuration.schema(), registerMigrations: registerMigrations),
            parsers: parsers, logger: logger, clock: clock, recordWindow: recordWindow, onProgress: onProgress)
    }

    /// A reader of a store in SQLite, for queries and for GRDB observations, which fire at every commit that changes the
    /// observed rows; nil for a store on a server, which notifies commits on the channel `tributary`.
    public var reader: (any DatabaseReader)? { (store as? SQLiteStore)?.reader }
}
