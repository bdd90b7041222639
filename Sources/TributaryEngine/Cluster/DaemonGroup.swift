import FeedConfiguration
import FeedFetching
import FeedModel
import FeedStores
import Foundation
import Logging

/// The messages of other daemons to a daemon's scheduler.
protocol SourceScheduling: Sendable {
    /// Refreshes sources now; all sources for nil.
    func refresh(_ sources: [String]?)
    /// Assigns sources to this daemon.
    ///
    /// - Parameter states: the states of sources that have run before.
    func assign(_ sources: Set<String>, _ states: [String: SourceState])
    /// Releases sources to another daemon. Runs in progress end first.
    func release(_ sources: Set<String>)
    /// Updates the due times of sources that another process has run.
    func updateDueTimes(from states: [String: SourceState])
}

/// This daemon among the daemons that share its store. Sends heartbeats, and decides which sources this daemon runs.
///
/// The daemon releases sources at once, and then publishes its new share. It takes sources over after all other daemons
/// have published theirs, and have no run left at the host. So the limits of a host apply to all daemons together.
///
/// An actor on its own queue, because a slow store blocks the queue's thread.
actor DaemonGroup {
    /// The seconds until the next check of sources that other daemons have not released yet.
    private static let secondsBetweenLooks = 0.5

    private let store: any SharedStore
    private let scheduler: any SourceScheduling
    private let ownership: Ownership
    private let hosts: HostGate
    private let clock: any RunClock
    private let logger: Logger
    private let executor: RunExecutor
    private let onRetry: @Sendable (String) -> Void
    private let timer: DueTimer
    private let requests = Mutex(Requests())

    private struct Requests {
        /// The sources that other processes have run, until their states are read.
        var ran: Set<String> = []
        var configuration: TributaryConfiguration?
    }

    private var record: DaemonRecord
    private var rules: HostRules
    private var shares: DaemonShares?
    /// True while the store cannot be reached.
    private var isCutOff = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// - Parameter onRetry: called with the name of a hook whose failed event is to be sent again.
    init(
        _ store: any SharedStore, _ configuration: TributaryConfiguration, scheduler: any SourceScheduling,
        ownership: Ownership, hosts: HostGate, clock: any RunClock, executor: RunExecutor, logger: Logger,
        onRetry: @escaping @Sendable (String) -> Void
    ) {
        self.onRetry = onRetry
        self.store = store
        self.scheduler = scheduler
        self.ownership = ownership
        self.hosts = hosts
        self.clock = clock
        self.executor = executor
        self.logger = logger
        rules = configuration.hosts
        timer = DueTimer(clock: clock)
        let host = ProcessInfo.processInfo.hostName
        record = DaemonRecord(
            id: store.daemonID, name: "\(host):\(ProcessInfo.processInfo.processIdentifier)",
            startedAt: clock.now(), declared: DeclaredSources(configuration))
    }

    /// Applies a new configuration.
    nonisolated func reload(_ configuration: TributaryConfiguration) {
        requests.withLock { $0.configuration = configuration }
        lookNow()
    }

    private nonisolated func lookNow() { timer.set(.distantPast) }

    /// Runs until the task is cancelled. The daemon then keeps its sources until its runs have ended.
    func run() async {
        let listening = store.listen { [weak self] messages in self?.receive(messages) }
        defer { listening.stop() }
        await timer.run {
            let pause = look()
            return clock.now() + pause
        }
    }

    /// Notifies the other daemons that this one has ended. If the store is unreachable, its lease ends by itself.
    func leave() {
        guard !isCutOff else { return }
        do {
            try store.leave()
        } catch {
            logger.warning("The other daemons could not be notified of the stop", metadata: ["error": "\(error)"])
        }
    }

    private nonisolated func receive(_ messages: [StoreMessage]) {
        var ran: Set<String> = []
        for message in messages {
            switch message {
            case .refresh(let names):
                let own = names.filter(ownership.owns)
                if names.isEmpty || !own.isEmpty {
                    let sources = names.isEmpty ? "all" : own.joined(separator: ",")
                    logger.notice("Refreshing", metadata: ["sources": "\(sources)"])
                }
                // Includes sources of other daemons, because this daemon may take them over.
                scheduler.refresh(names.isEmpty ? nil : names)
            case .ran(let source): ran.insert(source)
            case .retry(let hook): onRetry(hook)
            case .daemonsChanged: lookNow()
            case .lost(let error):
                logger.warning("Messages of other processes cannot be received", metadata: ["error": "\(error)"])
            }
        }
        let known = ran.filter(ownership.owns)
        guard !known.isEmpty else { return }
        let isFirst = requests.withLock { requests in
            defer { requests.ran.formUnion(known) }
            return requests.ran.isEmpty
        }
        if isFirst { Task { await self.readStates() } }
    }

    /// Reads the states of sources that other processes have run.
    private func readStates() {
        let sources = requests.withLock { requests in
            defer { requests.ran = [] }
            return requests.ran
        }
        do {
            scheduler.updateDueTimes(from: try standings(of: sources).compactMapValues(\.state))
        } catch {
            logger.warning("Runs of other processes cannot be read", metadata: ["error": "\(error)"])
        }
    }

    /// Sends a heartbeat, and decides by the other daemons' records which sources this daemon runs.
    ///
    /// - Returns: the seconds until the next call.
    private func look() -> Double {
        if let configuration = requests.withLock({ $0.configuration.take() }) {
            record.declared = DeclaredSources(configuration)
            rules = configuration.hosts
        }
        do {
            let isPending = try share()
            if isCutOff { logger.notice("The store can be reached again") }
            isCutOff = false
            return isPending ? Self.secondsBetweenLooks : DaemonRecord.secondsBetweenBeats
        } catch {
            if !isCutOff { logger.error("The store cannot be reached", metadata: ["error": "\(error)"]) }
            isCutOff = true
            if ownership.isOver { release(ownership.sources) }
            return 1
        }
    }

    /// - Returns: true if other daemons have not yet released some of this daemon's sources.
    private func share() throws -> Bool {
        let began = store.uptime
        let daemons = try store.beat(record)
        // Other daemons may have taken the sources over meanwhile.
        if ownership.isOver { release(ownership.sources) }
        ownership.extend(from: began)
        // The shares of thousands of sources take time to compute, and rarely change.
        let shares: DaemonShares
        if let known = self.shares, known.stand(for: daemons) {
            shares = known
        } else {
            shares = DaemonShares(daemons)
            self.shares = shares
        }
        let own = shares.sources(of: record.id)
        release(ownership.sources.subtracting(own))
        if record.sharing != shares.fingerprint {
            let names = daemons.map(\.name).joined(separator: ", ")
            logger.info("Sharing the sources", metadata: ["daemons": "\(names)", "own": "\(own.count)"])
            // The new share is published before any source is taken over.
            record.sharing = shares.fingerprint
            lookNow()
            return true
        }
        let missing = own.subtracting(ownership.sources)
        guard !missing.isEmpty else { return false }
        guard shares.areAgreed(among: daemons, except: record.id) else { return true }
        return try take(missing) < missing.count
    }

    private func release(_ sources: Set<String>) {
        guard !sources.isEmpty else { return }
        ownership.remove(sources)
        scheduler.release(sources)
    }

    /// Returns the standings of sources. If a clock ahead of this one has decided a due time, the wait counts from now:
    /// otherwise it would begin again at each look, until this clock has passed that decision.
    private func standings(of sources: Set<String>) throws -> [String: SourceStanding] {
        let (names, now) = (sources.sorted(), clock.now())
        let standings = try store.standings(of: names)
        let ahead = standings.filter { $0.value.state?.wasDecided(aheadOf: now) ?? false }.keys
        guard !ahead.isEmpty else { return standings }
        try store.write { try $0.waits.cut(to: now, from: now, of: ahead.sorted()) }
        return try store.standings(of: names)
    }

    /// Takes sources over, except those at hosts where other daemons have runs in progress.
    ///
    /// - Returns: the number of sources taken over.
    private func take(_ sources: Set<String>) throws -> Int {
        var groups = record.declared.groups
        var standings = try standings(of: sources)
        // Another daemon may just have run sources that are no longer declared here.
        for (source, standing) in try store.standings(of: nil) where groups[source] == nil {
            guard let origin = standing.origin.flatMap(Origin.init) else { continue }
            groups[source] = DeclaredSources.group(of: rules.key(of: origin))
            standings[source] = standing
        }
        let busy = Set(standings.filter(\.value.isRunElsewhere).compactMap { groups[$0.key] })
        let free = sources.filter { source in groups[source].map { !busy.contains($0) } ?? false }
        guard !free.isEmpty else { return 0 }
        let now = clock.now()
        hosts.close(try store.read { try $0.waits.busyHosts(at: now) }, now: now)
        ownership.add(free)
        scheduler.assign(free, standings.compactMapValues(\.state))
        return free.count
    }
}

extension DeclaredSources {
    /// The enabled sources, in groups by the origin of their first request, or by its host if `[hosts]` has rules for
    /// all of that host's origins. A source without a known address is a group of its own. Addresses may hold secrets,
    /// and are not published.
    init(_ configuration: TributaryConfiguration) {
        self.init(
            configuration.enabledSources.reduce(into: [:]) { groups, source in
                let server = source.firstOrigin.flatMap { $0.isFile ? nil : configuration.hosts.key(of: $0) }
                groups[source.name] = Self.group(of: server ?? "source " + source.name)
            })
    }

    fileprivate static func group(of server: String) -> String { Fingerprint.hexadecimal(server) }
}

/// The sources that this process may run, among the daemons that share a store. Each run checks it before it begins.
final class Ownership: Sendable {
    /// A second less than the time after which other daemons consider this one dead.
    static let term = Duration.seconds(DaemonRecord.secondsToLive - 1)

    private struct State {
        var sources: Set<String> = []
        /// In the store's uptime.
        var until: Duration
    }

    private let state: Mutex<State>
    private let uptime: @Sendable () -> Duration
    private let change = Mutex<(@Sendable () -> Void)?>(nil)

    /// - Parameter uptime: the clock of the store's leases.
    init(uptime: @escaping @Sendable () -> Duration) {
        self.uptime = uptime
        state = Mutex(State(until: uptime()))
    }

    /// Sets a function that is called when this daemon's sources change.
    func onChange(_ tell: @escaping @Sendable () -> Void) { change.withLock { $0 = tell } }

    func owns(_ source: String) -> Bool {
        state.withLock { $0.sources.contains(source) && uptime() < $0.until }
    }

    var sources: Set<String> { state.withLock(\.sources) }

    /// True if the last heartbeat is so old that other daemons may consider this one dead.
    var isOver: Bool { state.withLock { uptime() >= $0.until } }

    /// Extends the term after a heartbeat.
    ///
    /// - Parameter began: the time before the heartbeat was sent.
    func extend(from began: Duration) { state.withLock { $0.until = began + Self.term } }

    func add(_ sources: some Sequence<String>) {
        state.withLock { $0.sources.formUnion(sources) }
        change.withLock(\.self)?()
    }

    func remove(_ sources: Set<String>) {
        state.withLock { $0.sources.subtract(sources) }
        change.withLock(\.self)?()
    }
}
