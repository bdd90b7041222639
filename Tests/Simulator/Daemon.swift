import FeedConfiguration
import FeedFetching
import FeedModel
import FeedParsing
import FeedStores
import Foundation
import GRDB
import Logging
import SQLiteStore
import TributaryEngine
import TributaryStores

/// One life of a daemon: a process of its own, with the real engine and the real store.
final class Daemon: @unchecked Sendable {
    let process: EventLoop.Process
    let clock: SimulatedClock
    let service: SyncService
    let folder: String
    private(set) var hasEnded = false
    /// Why the service has ended by itself.
    private(set) var error: (any Error)?
    private var task: Task<Void, Never>?
    private let loop: EventLoop

    static let parsers = ParserRegistry([])

    init(
        _ process: EventLoop.Process, in folder: String, toml: String, _ internet: Internet, clock: SimulatedClock,
        seed: UInt64
    ) throws {
        self.process = process
        self.folder = folder
        self.clock = clock
        loop = internet.loop
        try toml.write(toFile: folder + "/sources.toml", atomically: false, encoding: .utf8)
        // A process that cannot open its store ends, and is started again until it can.
        let isOn = internet.faults.isOn
        internet.faults.isOn = false
        defer { internet.faults.isOn = isOn }
        service = try internet.loop.run(as: process) { [loop] in
            let configuration = try Self.configuration(in: folder)
            return try SyncService(
                configuration: configuration, store: Self.store(configuration, internet, process),
                parsers: Self.parsers, logger: Logger(label: "simulator") { _ in SwiftLogNoOpLogHandler() },
                clock: clock, random: SimulatedRandom(seed: seed),
                threads: SimulatedThreads(loop: loop, process: process),
                names: SimulatedNames(internet: internet, process: process),
                network: SimulatedNetwork(internet, process))
        }
    }

    static func configuration(in folder: String) throws -> TributaryConfiguration {
        try TributaryConfiguration(file: folder + "/sources.toml", parsers: parsers, environment: [:])
    }

    private static func store(
        _ configuration: TributaryConfiguration, _ internet: Internet, _ process: EventLoop.Process
    ) throws -> LossyStore {
        let loop = internet.loop
        let lane = loop.makeLane(process)
        let path = configuration.localPath
        let work = SQLiteWork(
            add: { write in
                loop.add(
                    {
                        // Another process's transaction, which does not end in time.
                        let lock = internet.faults.fires(.storeBusy, "write") ? try? StoreLock(path) : nil
                        write()
                        internet.hasWritten = true
                        lock?.release()
                    }, lane: lane)
            },
            pause: { _ in false })
        let schema = try configuration.schema()
        guard internet.isShared else {
            return LossyStore(
                try SQLiteStore(path: path, schema: schema, work: work), StoreLines(internet, process))
        }
        let messages = internet.messages
        return try SharedLossyStore(internet, process) { around in
            try SharedSQLiteStore(
                path: path, schema: schema, workFolder: path + "-work-\(process)", work: work,
                leases: Leases(holder: "p\(process)", uptime: { loop.now }),
                notify: { messages.send(.daemonsChanged, from: process) }, around: around)
        }
    }

    /// Runs the service until it is stopped.
    func run() {
        loop.run(as: process) {
            task = Task { [service] in
                do {
                    try await service.run()
                } catch {
                    self.error = error
                    self.loop.note("the service ends: \(error)")
                }
                self.hasEnded = true
            }
        }
    }

    /// Does something once, as a command does.
    ///
    /// - Parameter body: gets the service, and this process's clock and threads.
    func run(once body: @escaping @Sendable (SyncService, SimulatedClock, SimulatedThreads) async throws -> Void) {
        loop.run(as: process) {
            task = Task { [service, clock, process] in
                do {
                    try await body(service, clock, SimulatedThreads(loop: self.loop, process: process))
                } catch {
                    self.loop.note("the command fails: \(error)")
                }
                self.hasEnded = true
            }
        }
    }

    func stop() { loop.run(as: process) { task?.cancel() } }

    func reload(_ toml: String) throws {
        try toml.write(toFile: folder + "/sources.toml", atomically: false, encoding: .utf8)
        let configuration = try Self.configuration(in: folder)
        loop.run(as: process) { service.reload(configuration) }
    }

    func close() { loop.run(as: process) { try? service.close() } }
}

/// A transaction of somebody else's that holds a store's write lock.
private final class StoreLock {
    private let queue: DatabaseQueue

    init(_ path: String) throws {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.inDatabase { try $0.execute(sql: "BEGIN IMMEDIATE") }
    }

    func release() {
        try? queue.inDatabase { try $0.execute(sql: "ROLLBACK") }
        try? queue.close()
    }
}
