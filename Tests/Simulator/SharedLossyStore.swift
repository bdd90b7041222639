import FeedModel
import FeedStores

/// A store on a server, which several simulated daemons share: what `PostgresStore` adds to a file.
final class SharedLossyStore: LossyStore, SharedStore, @unchecked Sendable {
    private let shared: SharedSQLiteStore
    private let messages: Messages
    private var isKeeping = false

    /// - Parameter open: opens the store with what it does around each use of the leases.
    init(
        _ internet: Internet, _ process: EventLoop.Process,
        open: (@escaping @Sendable (LeaseUse, () throws -> Void) throws -> Void) throws -> SharedSQLiteStore
    ) throws {
        messages = internet.messages
        let lines = StoreLines(internet, process)
        shared = try open { use, body in try lines.writing("\(use)", rarer: 8, body) }
        super.init(shared.store, lines)
    }

    private var loop: EventLoop { lines.loop }

    // MARK: - Leases

    override func claim(_ source: String, at origin: String?) throws -> (any SourceClaim)? {
        guard let lease = try shared.lease(of: source, at: origin) else { return nil }
        keep()
        return lease
    }

    /// Renews the leases as long as there are any, as `LeaseKeeper` does.
    private func keep() {
        guard !isKeeping else { return }
        isKeeping = true
        loop.run(as: lines.process) {
            _ = loop.after(.seconds(Leases.secondsBetweenRenewals)) { [self] in
                isKeeping = false
                guard !shared.leases.sources.isEmpty else { return }
                do { try shared.renewLeases() } catch { loop.note("no lease is renewed: \(error)") }
                keep()
            }
        }
    }

    override func holdHook(_ name: String) throws -> Bool { try shared.holdHook(name) }

    override func releaseHook(_ name: String) throws { try shared.releaseHook(name) }

    // MARK: - Commits

    /// A commit may wait in the server for a lock, or come late to it.
    override func wait(_ method: String) async {
        guard let seconds = lines.delay(method) else { return }
        loop.note("\(method) waits for \(seconds) s")
        try? await loop.sleep(for: .seconds(seconds))
    }

    override func note(_ report: RunReport) {
        guard report.counts.inserted + report.counts.updated + report.counts.deleted > 0 else { return }
        messages.send(.ran(report.source), from: lines.process)
    }

    // MARK: - Daemons

    var daemonID: String { shared.daemonID }
    var uptime: Duration { shared.uptime }
    func beat(_ daemon: DaemonRecord) throws -> [DaemonRecord] { try shared.beat(daemon) }
    func leave() throws { try shared.leave() }
    func daemons() throws -> [DaemonRecord] { try shared.daemons() }
    func runners() throws -> [String: String] { try shared.runners() }
    func standings(of sources: [String]?) throws -> [String: SourceStanding] { try shared.standings(of: sources) }

    func notifyRetry(ofHook name: String) throws {
        try lines.writing("notifyRetry") { messages.send(.retry(name), from: nil) }
    }
    func requestRefresh(_ sources: [String]) throws {
        try lines.writing("requestRefresh") { messages.send(.refresh(sources), from: nil) }
    }

    func listen(_ receive: @escaping @Sendable ([StoreMessage]) -> Void) -> any StoreListening {
        messages.listen(as: lines.process, receive)
    }
}
