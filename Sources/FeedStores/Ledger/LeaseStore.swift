import FeedModel

/// A store on which several daemons run sources, each under a lease. What it promises is in the tables
/// `tributary_source`, `tributary_hook` and `tributary_daemon`.
package protocol LeaseStore: AnyObject, Sendable {
    /// The leases of this process.
    var leases: Leases { get }

    /// Reads and writes these tables. Each statement is a transaction of its own.
    ///
    /// - Throws: the errors of the body; `StoreError` where the store cannot be reached.
    func withLeases<Value>(_ use: LeaseUse, _ body: (Ledger) throws -> Value) throws -> Value

    /// Sends the other daemons a message that daemons have come, gone, or changed.
    func notifyDaemons() throws
}

/// What leases are read or written for.
package enum LeaseUse: Sendable {
    /// To take the lease on a source, or to give it up. It need not be on the disk when the statement returns: a commit of a
    /// run whose claim was forgotten fails, and a lease that was not given up ends by itself.
    case claim
    /// To renew leases. It waits for nothing else that this process asks of the store.
    case renewal
    /// To serve a hook, or to know the other daemons.
    case sharing
}

/// The right to run a source.
extension LeaseStore {
    package var uptime: Duration { leases.uptime }

    package var daemonID: String { leases.holder }

    /// Claims the right to run a source.
    ///
    /// - Parameter origin: the server that the run asks first; nil if it asks none.
    /// - Returns: nil while another run holds it, in this process or another.
    /// - Throws: `StoreError`
    package func lease(of source: String, at origin: String?) throws -> SourceLease? {
        guard leases.begin(source) else { return nil }
        var number: Int64?
        let asked = leases.uptime
        defer { leases.end(source, number, asked: asked) }
        number = try withLeases(.claim) { try $0.sources.take(source, leases.holder, at: origin) }
        return number.map { SourceLease(source, number: $0, in: self) }
    }

    /// Renews every lease of this process that has not ended. A run whose lease has gone to another can commit nothing.
    ///
    /// - Throws: `StoreError`
    package func renewLeases() throws {
        let sources = leases.sources
        guard !sources.isEmpty else { return }
        let asked = leases.uptime
        let renewed = try withLeases(.renewal) { try $0.sources.renew(sources, of: leases.holder) }
        for source in renewed { leases.renew(source, asked: asked) }
    }
}

/// The hooks: of several daemons, one serves each. It holds a lease on the hook's row.
extension LeaseStore {
    package func holdHook(_ name: String) throws -> Bool {
        try withLeases(.sharing) { try $0.hooks.hold(name, leases.holder) }
    }

    package func releaseHook(_ name: String) throws {
        try withLeases(.sharing) { try $0.hooks.release(name, leases.holder) }
    }
}

/// The daemons.
extension LeaseStore {
    package func beat(_ daemon: DaemonRecord) throws -> [DaemonRecord] {
        let isNew = try withLeases(.sharing) { try $0.daemons.record(daemon) }
        if isNew { try notifyDaemons() }
        return try withLeases(.sharing) { try $0.daemons.living(knowing: daemon) }
    }

    package func leave() throws {
        try withLeases(.sharing) { try $0.daemons.forget(daemonID) }
        try notifyDaemons()
    }

    package func daemons() throws -> [DaemonRecord] {
        try withLeases(.sharing) { try $0.daemons.living(knowing: nil) }
    }

    package func runners() throws -> [String: String] { try withLeases(.sharing) { try $0.daemons.runners() } }

    package func standings(of sources: [String]?) throws -> [String: SourceStanding] {
        try withLeases(.sharing) { try $0.daemons.standings(of: sources, for: daemonID) }
    }
}

/// The right to run a source, held by one run in one process at a time.
///
/// A row of `tributary_source` names its holder. It lasts for some seconds, and longer as long as its holder renews it. A
/// run whose lease has gone to another can commit nothing.
package final class SourceLease: SourceClaim {
    let source: String
    private let number: Int64
    private let store: any LeaseStore

    init(_ source: String, number: Int64, in store: any LeaseStore) {
        self.source = source
        self.number = number
        self.store = store
    }

    /// - Throws: `StoreError` if it was not renewed in time.
    package func check() throws {
        guard store.leases.isInForce(source, number) else {
            throw StoreError(
                .unavailable,
                "the lease of '\(source)' could not be renewed in time; another daemon may run it now")
        }
    }

    package func endedWithCommit() -> Bool {
        _ = store.leases.remove(source, number)
        return true
    }

    package func unlock() {
        guard store.leases.remove(source, number) else { return }
        // Where the store cannot be reached, the lease ends by itself within seconds.
        try? store.withLeases(.claim) {
            try $0.sources.release(Lease(holder: store.leases.holder, number: number), of: source)
        }
    }
}
