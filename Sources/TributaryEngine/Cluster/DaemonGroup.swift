import FeedDeclarations
import FeedFetching
import FeedModel
import FeedStores
import Foundation
import Logging
import Locking

/// What a daemon's scheduler learns from the other daemons.
protocol SourceScheduling: Sendable {
    /// Refreshes sources now; all of them for nil.
    func refresh(_ sources: [String]?)
    /// Runs sources that have become this daemon's.
    ///
    /// - Parameter states: those of sources that ever ran.
    func assign(_ sources: Set<String>, _ states: [String: SourceState])
    /// Leaves sources to another daemon. Those that are running end.
    func release(_ sources: Set<String>)
    /// Takes over when sources are due that another process has run.
    func updateDueTimes(from states: [String: SourceState])
}

/// This daemon among those that share its store: gives signs of life, and decides which sources are its own.
///
/// What is not its own any more is given up at once, and only then the others are told. What becomes its own is taken when
/// all others have told so, and when no run of theirs is left at the host. So the limits of a host hold for all together.
///
/// An actor on a queue of its own: a store that is slow to answer blocks that queue's thread.
actor DaemonGroup {
    /// The seconds until the next look at sources that others have not left yet.
    private static let secondsBetweenLooks = 0.5

    private let store: any SharedStore
    private let scheduler: any SourceScheduling
    private let ownership: Ownership
    private let busyHosts: BusyHosts
    private let clock: any RunClock
    private let logger: Logger
    private let executor: RunExecutor
    private let onRetry: @Sendable (String) -> Void
    private let timer: DueTimer
    private let requests = Mutex(Requests())

    private struct Requests {
        /// True where a sign of life is to be given at once.
        var isAlarmed = false
        /// The sources that other processes have run, and whose states have not been read yet.
        var ran: Set<String> = []
        var configuration: TributaryConfiguration?
    }

    private var record: DaemonRecord
    private var shares: DaemonShares?
    /// True while the store cannot be reached.
    private var isCutOff = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// - Parameter onRetry: called with the name of a hook whose failed event is to be sent again.
    init(
        _ store: any SharedStore, _ configuration: TributaryConfiguration, scheduler: any SourceScheduling,
        ownership: Ownership, busyHosts: BusyHosts, clock: any RunClock, executor: RunExecutor, logger: Logger,
        onRetry: @escaping @Sendable (String) -> Void
    ) {
        self.onRetry = onRetry
        self.store = store
        self.scheduler = scheduler
        self.ownership = ownership
        self.busyHosts = busyHosts
        self.clock = clock
        self.executor = executor
        self.logger = logger
        timer = DueTimer(clock: clock)
        let host = ProcessInfo.processInfo.hostName
        record = DaemonRecord(
            id: store.daemonID, name: "\(host):\(ProcessInfo.processInfo.processIdentifier)",
            startedAt: clock.now(), declared: DeclaredSources(configuration))
    }

    /// Puts a new configuration in force.
    nonisolated func reload(_ configuration: TributaryConfiguration) {
        requests.withLock { $0.configuration = configuration }
        lookNow()
    }

    private nonisolated func lookNow() {
        requests.withLock { $0.isAlarmed = true }
        timer.set(.distantPast)
    }

    /// Runs until the task is cancelled. Then the sources still are this daemon's, as its runs have to end.
    func run() async {
        let listening = store.listen { [weak self] messages in self?.receive(messages) }
        defer { listening.stop() }
        timer.set(.distantPast)
        for await _ in timer.ticks {
            if Task.isCancelled { break }
            requests.withLock { $0.isAlarmed = false }
            let pause = look()
            timer.set(clock.now() + pause)
            if requests.withLock(\.isAlarmed) { timer.set(.distantPast) }
        }
        timer.set(nil)
    }

    /// Tells the others that this daemon has ended. Where the store cannot be reached, they count it as dead soon.
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
                // Also those that are not this daemon's: they may become so.
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

    /// Takes the states of sources over that other processes have run.
    private func readStates() {
        let sources = requests.withLock { requests in
            defer { requests.ran = [] }
            return requests.ran
        }
        do {
            scheduler.updateDueTimes(from: try store.standings(of: sources.sorted()).compactMapValues(\.state))
        } catch {
            logger.warning("What other processes have run cannot be read", metadata: ["error": "\(error)"])
        }
    }

    /// Gives a sign of life, and decides by the others' which sources are this daemon's.
    ///
    /// - Returns: the seconds until the next look.
    private func look() -> Double {
        if let configuration = requests.withLock({ $0.configuration.take() }) {
            record.declared = DeclaredSources(configuration)
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

    /// - Returns: true where sources are to be taken that others have not left yet.
    private func share() throws -> Bool {
        let began = store.uptime
        let daemons = try store.beat(record)
        // Others may have taken everything over meanwhile.
        if ownership.isOver { release(ownership.sources) }
        ownership.extend(from: began)
        // To share thousands of sources takes a while, and they rarely change.
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
            // Nothing is taken before the others can read by which shares.
            record.sharing = shares.fingerprint
            lookNow()
            return true
        }
        let missing = own.subtracting(ownership.sources)
        guard !missing.isEmpty else { return false }
        guard shares.areAgreed(among: daemons, besides: record.id) else { return true }
        return try take(missing) < missing.count
    }

    private func release(_ sources: Set<String>) {
        guard !sources.isEmpty else { return }
        ownership.remove(sources)
        scheduler.release(sources)
    }

    /// Takes sources over, but for those at whose hosts others still run some.
    ///
    /// - Returns: how many were taken.
    private func take(_ sources: Set<String>) throws -> Int {
        let standings = try store.standings(of: sources.sorted())
        let groups = record.declared.groups
        let busy = Set(standings.filter(\.value.isRunElsewhere).compactMap { groups[$0.key] })
        let free = sources.filter { source in groups[source].map { !busy.contains($0) } ?? false }
        guard !free.isEmpty else { return 0 }
        let now = clock.now()
        for (text, end) in try store.busyHosts() where end > now {
            guard let origin = Origin(text) else { continue }
            busyHosts.leaveAlone(origin, until: end, now: now)
        }
        ownership.add(free)
        scheduler.assign(free, standings.compactMapValues(\.state))
        return free.count
    }
}

extension DeclaredSources {
    /// The enabled sources, in groups by the origin of their first request, or by its host where `[hosts]` has rules for all
    /// of that host's origins; one whose address is not known yet stands for
    /// itself. Addresses may hold secrets, and are not told.
    init(_ configuration: TributaryConfiguration) {
        self.init(
            configuration.enabledSources.reduce(into: [:]) { groups, source in
                let server = source.firstOrigin.flatMap { $0.isFile ? nil : configuration.hosts.key(of: $0) }
                groups[source.name] = Fingerprint.hexadecimal(server ?? "source " + source.name)
            })
    }
}
