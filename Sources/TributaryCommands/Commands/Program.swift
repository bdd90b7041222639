import ArgumentParser
import CSQLite
import FeedConfiguration
package import FeedParsing
import FeedStores
import Foundation
package import GRDB
import Logging
import TributaryEngine
import TributaryStores

/// The parsers and migrations of a `TributaryApp`, from which commands make configurations and services.
package struct Program: Sendable {
    var parsers: ParserRegistry
    var registerMigrations: @Sendable (inout DatabaseMigrator) -> Void

    package init(parsers: ParserRegistry, registerMigrations: @escaping @Sendable (inout DatabaseMigrator) -> Void) {
        self.parsers = parsers
        self.registerMigrations = registerMigrations
    }

    /// Runs the command that the process's arguments name. Exits with its status if that is not 0.
    package func main() async {
        // Set before the first connection. The process is ours; a server around a `SyncService` decides this for
        // itself.
        // Whoever reads the output may end before the command does: writing then fails, and says so.
        signal(SIGPIPE, SIG_IGN)
        _ = tributary_disable_memory_statistics()
        tributary_return_freed_memory()
        FileLimit.raise()
        do {
            var command = try RootCommand.parse(CommandLine.arguments.dropFirst())
            if let command = command as? any ProgramCommand {
                try await command.run(self)
            } else {
                try command.run()
            }
        } catch {
            let status = Failure.end(error)
            if status != 0 { StopSignal.endProcess() }
            exit(status)
        }
    }

    /// - Parameter names: the sources that matter; others may be left out. All where there are none.
    func configuration(_ options: GlobalOptions, only names: [String] = []) throws -> TributaryConfiguration {
        let configuration = try TributaryConfiguration(
            file: options.configurationFile, parsers: parsers, environment: ProcessInfo.processInfo.environment,
            only: names)
        return inTemporaryFolder(configuration)
    }

    /// Returns the configuration of a command that needs only the store. Of a file with mistakes, it has the store and the
    /// names of the sources, if the store is there and the file tells where; a warning then has the first mistake.
    func storeConfiguration(_ options: GlobalOptions, only names: [String] = []) throws -> TributaryConfiguration {
        do {
            return try configuration(options, only: names)
        } catch let mistakes as ConfigurationError {
            let known = try? TributaryConfiguration(
                storeOf: options.configurationFile, parsers: parsers,
                environment: ProcessInfo.processInfo.environment
            ) { try $0.withExistingStore { try $0?.read { try $0.sources.all() }.keys.sorted() } }
            guard let known, let first = mistakes.problems.first else { throw mistakes }
            let count = mistakes.problems.count
            Failure.warn(
                "\(Figures.count(count, "mistake")) in \(known.file), of which this command uses only [store] and the names "
                    + "of the sources: \(first); `tributary check` shows \(count == 1 ? "it" : "all of them")")
            return inTemporaryFolder(known)
        }
    }

    private func inTemporaryFolder(_ configuration: TributaryConfiguration) -> TributaryConfiguration {
        // What SQLite sorts takes as much space as the scratch files, on the file system that is meant for it.
        tributary_set_temporary_folder(configuration.localPath + "-work")
        return configuration
    }

    /// Returns the configuration of a command that writes the tables of sources.
    func writingConfiguration(_ options: GlobalOptions) throws -> TributaryConfiguration {
        try checkingScopes(of: configuration(options))
    }

    /// - Throws: ``ConfigurationError`` for sources that would overwrite each other's rows.
    func checkingScopes(of configuration: TributaryConfiguration) throws -> TributaryConfiguration {
        let mistakes = ScopeConflict.mistakes(in: configuration, parsers: parsers)
        guard mistakes.isEmpty else {
            throw ConfigurationError(problems: configuration.located(mistakes))
        }
        return configuration
    }

    func service(
        _ configuration: TributaryConfiguration, logger: Logger,
        onProgress: @escaping @Sendable (RunProgress) -> Void = { _ in }
    ) throws -> SyncService {
        return try SyncService(
            configuration: configuration, parsers: parsers, logger: logger, registerMigrations: registerMigrations,
            onProgress: onProgress)
    }

    /// - Parameters:
    ///   - store: an opened store, which the caller closes.
    ///   - logins: the opened store that keeps refresh tokens; nil for `store`.
    func service(
        _ configuration: TributaryConfiguration, store: any MainStore, logins: (any MainStore)?, logger: Logger
    ) throws -> SyncService {
        try SyncService(
            configuration: configuration, store: store, parsers: parsers, logger: logger, clock: SystemClock(),
            logins: logins)
    }
}

/// A command that needs its program: the parsers and migrations.
protocol ProgramCommand: ParsableCommand {
    func run(_ program: Program) async throws
}

/// How many files and connections this process may have open.
enum FileLimit {
    /// More than a thousand connections, which as many runs may wait for, and the files of their rows and bodies. The usual
    /// limit of 1,024 is for programs that use select(2).
    private static let wanted: UInt = 65_536

    /// Raises the limit as far as this user may (setrlimit(2)). It stays as it is where it cannot be raised.
    static func raise() {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return }
        let most = min(UInt(limit.rlim_max), wanted)
        guard UInt(limit.rlim_cur) < most else { return }
        limit.rlim_cur = rlim_t(most)
        setrlimit(resource, &limit)
    }
}
