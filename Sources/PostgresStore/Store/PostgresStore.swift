import FeedModel
import FeedStaging
package import FeedStores
import Foundation

/// The main store in a PostgreSQL database, which several daemons may share.
///
/// Its methods block their thread: none is called from the cooperative pool. A connection is held for a commit or a
/// short question, never while a feed is downloaded or parsed.
package final class PostgresStore: Sendable, CustomStringConvertible {
    /// The connection string for libpq, unchanged. It may contain a password, so it is never shown.
    let connectionString: String
    let connections: ConnectionPool
    /// The store's address for messages, without a password: `postgresql://user@host/database`.
    package let description: String
    /// The folder of this store's scratch databases.
    let scratch: WorkFolder
    let tableDetails = TableDetailsCache()
    let laterChanges = LaterChanges()
    package let leases: Leases
    let leaseKeeper = LeaseKeeper()
    /// Ends the work on the server when the program stops.
    let stop: Stop
    let tableTurns = TableTurns()
    let groupCommit = GroupCommit<GroupWrite>()
    let notifier = CommitNotifier()
    let commitThreads: CommitThreads
    /// The connection by which leases are renewed, however many others are in use.
    let leaseConnections: ConnectionPool
    /// The time in which a server that went away during a COMMIT is expected back.
    let settlingTime: Duration
    /// The place of all that a plan does whose tables are yet to be made or changed; nil if the store is one to keep.
    let planning: PlanSpace?

    /// The connections of a store for which nothing else is declared.
    package static let defaultConnections = 16

    /// Connects to the database, and brings Tributary's own tables up to date.
    ///
    /// - Parameters:
    ///   - url: a connection string of libpq, as a URI or as keywords.
    ///   - workFolder: the folder of all stores' folders of scratch databases.
    ///   - schema: idempotent SQL, run each time the store is opened.
    ///   - limit: the most connections, except one that listens and one for heartbeats and leases. Opening the store
    ///     and running `schema_after` take one of their own for a moment.
    ///   - settlingTime: how long to wait for a server that was lost during a COMMIT.
    /// - Throws: ``StoreError`` naming the server, and what to do.
    package convenience init(
        url: String, workFolder: String, schema: String? = nil, connections limit: Int = defaultConnections,
        settlingTime: Duration = .seconds(30)
    ) throws {
        try self.init(url, workFolder, connections: limit, settlingTime: settlingTime) { connection in
            try Self.checkWriting(connection)
            try OwnMigrations.checkAge(connection)
            if try schema != nil || !OwnMigrations.areComplete(connection) {
                try Self.run(schema: schema ?? "", connection) {
                    try OwnMigrations.migrate($0)
                    return schema != nil
                }
            }
        }
    }

    /// - Parameter prepare: checks and completes the database by a connection that is closed afterwards.
    private init(
        _ url: String, _ workFolder: String, connections limit: Int = defaultConnections,
        settlingTime: Duration = .zero, planning: PlanSpace? = nil, _ prepare: (PostgresConnection) throws -> Void
    ) throws {
        connectionString = url
        self.settlingTime = settlingTime
        self.planning = planning
        leases = Leases(since: .now)
        scratch = WorkFolder(leases.holder, in: workFolder)
        let stop = Stop()
        self.stop = stop
        connections = ConnectionPool(url, limit: limit, stop: stop)
        leaseConnections = ConnectionPool(url, limit: 1, stop: stop)
        commitThreads = CommitThreads(connections: limit)
        description = try Self.opening(url) { connection in
            try Self.check(connection)
            try prepare(connection)
        }
    }

    /// Returns true if the database has tables of Tributary's.
    ///
    /// - Throws: ``StoreError`` naming the server, and what to do.
    package static func exists(at url: String) throws -> Bool {
        var exists = false
        _ = try opening(url) { connection in
            try check(connection)
            exists = try OwnMigrations.exist(connection)
        }
        return exists
    }

    /// Opens an existing store for reading: creates nothing, and may connect to a standby.
    ///
    /// - Throws: ``StoreError``, also if the database lacks Tributary's tables.
    package convenience init(readingAt url: String, workFolder: String) throws {
        try self.init(url, workFolder) { connection in
            try OwnMigrations.checkAge(connection)
            guard try OwnMigrations.areComplete(connection) else {
                guard try OwnMigrations.exist(connection) else {
                    throw StoreError.cannotOpen(
                        connection.address.url, "it has no tables of Tributary",
                        help:
                            "check the database's name and the role's search_path, or run 'tributary sync' or the daemon "
                            + "once, which creates them")
                }
                throw OwnMigrations.outdated(connection)
            }
        }
    }

    /// Opens a store in which nothing stays: each question finds the tables as a run would make them, in a transaction that
    /// is rolled back.
    ///
    /// - Throws: ``StoreError``, also where Tributary's tables are those of another version.
    package convenience init(planningAt url: String, workFolder: String, in space: PlanSpace) throws {
        try self.init(url, workFolder, planning: space) { connection in
            try Self.checkWriting(connection)
            try OwnMigrations.checkAge(connection)
            if try OwnMigrations.exist(connection), try !OwnMigrations.areComplete(connection) {
                throw OwnMigrations.outdated(connection)
            }
        }
    }

    /// Ends waits for locks of other sessions within three seconds, and all others within four. Called when the program
    /// stops.
    package func stopWaiting() { stop.request(within: .seconds(3)) }

    /// Closes every connection, and removes the scratch databases. The store must not be used afterwards.
    package func close() throws {
        notifier.flush()
        connections.close()
        leaseConnections.close()
        scratch.remove()
    }

}

extension PostgresStore {
    /// - Returns: the address of the server that was connected to.
    private static func opening(_ url: String, _ body: (PostgresConnection) throws -> Void) throws -> String {
        do {
            let connection = try PostgresConnection(url)
            connection.answerLimit = .question(answerLimit)
            defer { connection.close() }
            try body(connection)
            return connection.address.url
        } catch let error as PostgresError {
            throw StoreError.cannotOpen(error.server?.url, error.finding.text, help: error.finding.help)
        }
    }

    private static func check(_ connection: PostgresConnection) throws {
        let address = connection.address.url
        let version = connection.serverVersion
        guard version >= 140_000 else {
            throw StoreError.cannotOpen(
                address, "the server is PostgreSQL \(version / 10_000), and Tributary needs version 14 or later")
        }
        let encoding = connection.databaseEncoding ?? "unknown"
        guard encoding == "UTF8" else {
            throw StoreError.cannotOpen(
                address,
                "the database's encoding is \(encoding), which cannot hold every text",
                help: "create a database WITH ENCODING 'UTF8' TEMPLATE template0")
        }
    }

    private static func checkWriting(_ connection: PostgresConnection) throws {
        let row = try connection.execute(
            "SELECT pg_is_in_recovery(), current_setting('transaction_read_only')::boolean, current_schema()")[0]
        let address = connection.address.url
        guard try row.bool(0) == false else {
            throw StoreError.cannotOpen(
                address,
                "the server is a standby, which is read-only",
                help: "connect to the primary (several hosts with target_session_attrs=read-write find it)")
        }
        guard try row.bool(1) == false else {
            throw StoreError.cannotOpen(
                address,
                "the session is read-only",
                help: "see default_transaction_read_only of the role, the database and the server")
        }
        guard row.string(2) != nil else {
            throw StoreError.cannotOpen(
                address, "no schema of the search_path exists", help: "create one, or set the role's search_path")
        }
    }
}

/// Renews a store's leases, on a thread that lives as long as there are any.
final class LeaseKeeper: Sendable {
    private let isKeeping = Mutex(false)

    /// To be called after each claim.
    func keep(_ store: PostgresStore) {
        let isFirst = isKeeping.withLock { isKeeping in
            defer { isKeeping = true }
            return !isKeeping
        }
        guard isFirst else { return }
        Thread.detachNewThread { [self] in
            while goesOn(store) {
                // Where the server cannot be reached, the next attempt may. A run whose lease ends commits nothing.
                _ = try? store.renewLeases()
            }
        }
    }

    private func goesOn(_ store: PostgresStore) -> Bool {
        Thread.sleep(forTimeInterval: Leases.secondsBetweenRenewals)
        return isKeeping.withLock { isKeeping in
            isKeeping = !store.leases.sources.isEmpty
            return isKeeping
        }
    }
}
