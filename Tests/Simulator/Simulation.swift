import FeedModel
import FeedStores
import Foundation
import TestSupport
import TributaryEngine

/// What became of one seed.
package struct SimulationResult {
    package let seed: UInt64
    package let digest: UInt64
    package let steps: Int
    package let runs: Int
    package let requests: Int
    package let time: Duration
    /// The faults that fired.
    package let faults: String
    package let trace: Trace
    /// What was found; nil where all was well.
    package let failure: String?
}

/// Runs one seed: daemons on one store, while publishers change their feeds and things go wrong, and then until all is well
/// again.
package final class Simulation {
    /// The time in which everything must be well again once nothing goes wrong any more. The longest wait of the engine's
    /// own is the one after many failures, 72 minutes.
    static let patience = Duration.seconds(6 * 3600)

    private let seed: UInt64
    private let folder: String
    private let scenario: Scenario
    private let faults: Faults
    private let loop: EventLoop
    private let auditor: Auditor
    private let receiver: Receiver
    private let internet: Internet
    private var random: SplitMix64
    private var daemon: Daemon?
    /// A process that runs some sources once, beside the daemon.
    private var second: Daemon?
    private var lives = 0
    private var clockError: Double
    private var disabled: Set<String> = []
    private var caches: [String: Int] = [:]
    private var stepsUntilKill: Int?
    private let found = Found()
    /// All that ever ran. Nothing of them is freed, as what waits for them would go on then.
    private var daemons: [Daemon] = []
    nonisolated(unsafe) private static var past: [Simulation] = []

    /// The first thing that was found.
    private final class Found {
        var failure: String?

        func note(_ failure: String) { if self.failure == nil { self.failure = failure } }
    }

    /// - Parameters:
    ///   - folder: an empty folder for the stores.
    ///   - except: faults that do not happen, whatever the seed says.
    ///   - show: called with each line of the trace.
    package init(seed: UInt64, in folder: String, except: Set<FaultSite> = [], show: ((String) -> Void)? = nil) {
        var random = SplitMix64(seed: seed)
        self.seed = seed
        self.folder = folder
        scenario = Scenario(seed: random.next())
        faults = Faults(seed: random.next(), except: except)
        loop = EventLoop(seed: random.next(), show: show)
        self.random = SplitMix64(seed: random.next())
        clockError = scenario.clockError
        auditor = Auditor(scenario.feeds, hasHook: scenario.hasHook, fail: found.note)
        receiver = Receiver(fail: found.note)
        internet = Internet(
            loop, faults, hosts: scenario.hosts, feeds: scenario.feeds, receiver: receiver, fail: found.note)
    }

    package func run() -> SimulationResult {
        Self.past.append(self)
        loop.enter()
        defer { loop.leave() }
        do {
            try simulate()
        } catch {
            found.note("the simulation ends: \(error)")
        }
        let runs = (try? daemon?.service.store.runs(of: nil, failed: false, limit: 100_000).count) ?? 0
        let time = loop.now
        let failure = found.failure.map { "at \(Trace.written(time)): \($0)" }
        try? auditor.close()
        daemon?.close()
        second?.close()
        return SimulationResult(
            seed: seed, digest: loop.trace.digest, steps: loop.steps, runs: runs, requests: internet.requests,
            time: time, faults: faults.description, trace: loop.trace, failure: failure)
    }

    private func simulate() throws {
        try start(copying: nil)
        for feed in scenario.feeds { scheduleChange(of: feed) }
        scheduleOperation()
        try go(until: { self.loop.now >= self.scenario.troubled })
        loop.note("all is well from here")
        faults.isOn = false
        stepsUntilKill = nil
        if disabled != [] || !caches.isEmpty {
            (disabled, caches) = ([], [:])
            try daemon?.reload(scenario.toml())
        }
        scheduleCare()
        let limit = loop.now + Self.patience
        var next = loop.now
        var isSettled = false
        try go(until: {
            guard self.loop.now >= next else { return false }
            next = self.loop.now + .seconds(60)
            isSettled = try self.auditor.unsettled(self.receiver) == nil
            return isSettled || self.loop.now >= limit
        })
        guard found.failure == nil, !isSettled else { return }
        let what = try auditor.unsettled(receiver) ?? ""
        found.note("after \(Trace.written(Self.patience)) without faults, \(what)")
    }

    /// Goes on until something is found, or a condition holds.
    private func go(until isOver: () throws -> Bool) throws {
        while found.failure == nil, try !isOver() {
            let before = loop.steps
            guard loop.step() else { return found.note("nothing is left to do, and nobody waits for anything") }
            if internet.hasWritten || loop.steps % 64 == 0 {
                internet.hasWritten = false
                try auditor.look()
            }
            if daemon?.hasEnded ?? false, !isStopping { return found.note("the daemon has ended by itself") }
            if let second, second.hasEnded {
                second.close()
                self.second = nil
            }
            if isStopping, daemon?.hasEnded ?? false { try finishStopping() }
            guard let left = stepsUntilKill else { continue }
            stepsUntilKill = left - (loop.steps - before)
            if left <= 0 { try kill() }
        }
    }

    // MARK: - Processes

    private func start(copying former: String?) throws {
        lives += 1
        let path = folder + "/\(lives)"
        if let former {
            try FileManager.default.copyItem(atPath: former, toPath: path)
        } else {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        try launch(in: path)
        try auditor.open(path + "/store.sqlite")
        try auditor.look()
    }

    private func launch(in path: String) throws {
        let process = nextProcess()
        let daemon = try Daemon(
            process, in: path, toml: scenario.toml(disabled: disabled, caches: caches), internet,
            clock: SimulatedClock(loop, error: clockError), seed: random.next())
        loop.note("starts as p\(process)")
        self.daemon = daemon
        daemons.append(daemon)
        daemon.run()
    }

    private var processes = 0

    private func nextProcess() -> EventLoop.Process {
        processes += 1
        return processes
    }

    /// Kills all processes, and starts another on what is in the files at this moment.
    private func kill() throws {
        stepsUntilKill = nil
        guard let daemon else { return }
        loop.note("p\(daemon.process) is killed")
        for dead in [daemon, second].compactMap(\.self) {
            loop.kill(dead.process)
            internet.forget(dead.process)
        }
        let others = second
        second = nil
        isStopping = false
        try start(copying: daemon.folder)
        daemon.close()
        others?.close()
    }

    private var isStopping = false

    private func stop() {
        guard !isStopping, let daemon else { return }
        loop.note("p\(daemon.process) is told to stop")
        isStopping = true
        daemon.stop()
    }

    private func finishStopping() throws {
        isStopping = false
        guard let daemon else { return }
        daemon.close()
        internet.forget(daemon.process)
        try launch(in: daemon.folder)
    }

    // MARK: - What happens

    private func scheduleChange(of feed: Feed) {
        let seconds =
            random.oneIn(12)
            ? Double(Int.random(in: 1...9, using: &random)) / 10
            : Double(Int.random(in: 60...2400, using: &random))
        loop.after(.seconds(seconds)) { [self] in
            guard faults.isOn else { return }
            feed.change(at: SimulatedClock.epoch + loop.now.seconds)
            loop.note("\(feed.host)\(feed.path) becomes version \(feed.current)")
            scheduleChange(of: feed)
        }
    }

    /// What operators do, and what happens to processes.
    private func scheduleOperation() {
        loop.after(.seconds(Int.random(in: 10...900, using: &random))) { [self] in
            guard faults.isOn else { return }
            do { try operate() } catch { found.note("an operation fails: \(error)") }
            scheduleOperation()
        }
    }

    private func operate() throws {
        guard let daemon, !isStopping else { return }
        if faults.armed[.kill] != nil, random.oneIn(3) {
            // At any piece of work of a time in which there is some.
            stepsUntilKill = Int.random(in: 0...400, using: &random)
        } else if faults.armed[.restart] != nil, random.oneIn(4) {
            stop()
        } else if faults.armed[.clock] != nil, random.oneIn(4) {
            let seconds = Double(Int.random(in: -7200...7200, using: &random))
            loop.note("the clock is set by \(seconds) s")
            clockError += seconds
            daemon.clock.error = clockError
            second?.clock.error = clockError
        } else if faults.armed[.reload] != nil, random.oneIn(3) {
            try change(daemon)
        } else if faults.armed[.refresh] != nil, random.oneIn(2) {
            let name = scenario.sources.randomElement(using: &random)?.name
            loop.note("refresh \(name ?? "")")
            loop.run(as: daemon.process) { daemon.service.refresh(name.map { [$0] }) }
        } else if faults.armed[.secondProcess] != nil, second == nil, random.oneIn(2) {
            let names = scenario.sources.map(\.name).filter { _ in random.oneIn(2) }
            let process = nextProcess()
            loop.note("p\(process) syncs \(names)")
            second = try Daemon(
                process, in: daemon.folder, toml: scenario.toml(disabled: disabled, caches: caches), internet,
                clock: SimulatedClock(loop, error: clockError), seed: random.next())
            second.map { daemons.append($0) }
            second?.sync(names)
        }
    }

    private func change(_ daemon: Daemon) throws {
        guard let source = scenario.sources.randomElement(using: &random) else { return }
        if random.oneIn(2) {
            if disabled.remove(source.name) == nil { disabled.insert(source.name) }
        } else {
            caches[source.name] = Int.random(in: 3...30, using: &random)
        }
        loop.note("reload: without \(disabled.sorted()), caches \(caches.sorted { $0.key < $1.key })")
        try daemon.reload(scenario.toml(disabled: disabled, caches: caches))
    }

    /// Accepts what is blocked, and releases what is held, every ten minutes.
    private func scheduleCare() {
        loop.after(.seconds(600)) { [self] in
            defer { scheduleCare() }
            guard let daemon, !isStopping else { return }
            loop.run(as: daemon.process) {
                let store = daemon.service.store
                do {
                    for source in scenario.sources.map(\.name) {
                        if try store.blockedRun(of: source) != nil { _ = try daemon.service.accept([source]) }
                        if try store.sourceState(source).attempts > 0 { _ = try daemon.service.release([source]) }
                    }
                } catch {
                    loop.note("no care: \(error)")
                }
            }
        }
    }
}
