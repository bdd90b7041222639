import FeedModel
import FeedStores
import Foundation
import TestSupport
import TributaryEngine

/// What became of one seed.
package struct SimulationResult {
    package let seed: UInt64
    package let digest: UInt64
    /// The number of pieces of work that were done.
    package let pieces: Int
    package let runs: Int
    package let requests: Int
    package let powerFailures: Int
    package let time: Duration
    /// The faults that fired.
    package let faults: String
    package let trace: Trace
    package let steps: [Steps.Step]
    /// What was found, with its time; nil where all was well.
    package let finding: Finding?
}

/// Runs one seed: daemons on one store, while publishers change their feeds and things go wrong, and then until all is well
/// again.
package final class Simulation {
    /// The time in which everything must be well again once nothing goes wrong any more. The longest wait of the engine's
    /// own is the one after many failures, 72 minutes.
    static let patience = Duration.seconds(6 * 3600)

    private let seed: UInt64
    /// From which follows all that is not drawn elsewhere.
    let ownSeed: UInt64
    private let folder: String
    let scenario: Scenario
    let steps: Steps
    let faults: Faults
    let loop: EventLoop
    private let auditor: Auditor
    private let receiver: Receiver
    let internet: Internet
    let disk: FaultyDisk
    private let losesPower: Bool
    private(set) var daemon: Daemon?
    /// A process that runs a command once, beside the daemon.
    private(set) var second: Daemon?
    private var lives = 0
    var clockError: Double
    var disabled: Set<String> = []
    var caches: [String: Int] = [:]
    var piecesUntilKill: Int?
    let found = Found()
    /// All that ever ran. Nothing of them is freed, as what waits for them would go on then.
    private var daemons: [Daemon] = []
    nonisolated(unsafe) private static var past: [Simulation] = []

    /// The first thing that was found.
    final class Found {
        private(set) var finding: Finding?

        func note(_ finding: Finding) { if self.finding == nil { self.finding = finding } }
    }

    /// - Parameters:
    ///   - folder: an empty folder for the stores.
    ///   - except: faults that do not happen, whatever the seed says.
    ///   - sought: a fault that counts as a finding when it fires; nil for none.
    ///   - losesPower: true where the power fails again and again.
    ///   - steps: takes note of what is done.
    ///   - show: called with each line of the trace.
    package init(
        seed: UInt64, in folder: String, except: Set<FaultSite> = [], sought: FaultSite? = nil,
        losesPower: Bool = false, _ steps: Steps = Steps(),
        show: ((String) -> Void)? = nil
    ) {
        var random = SplitMix64(seed: seed)
        self.seed = seed
        self.folder = folder
        self.steps = steps
        scenario = Scenario(seed: random.next())
        faults = Faults(seed: random.next(), except: except, steps)
        loop = EventLoop(seed: random.next(), show: show)
        ownSeed = random.next()
        clockError = scenario.clockError
        steps.now = { [loop] in loop.now }
        faults.onFire = { [found] site in
            if site == sought { found.note(Finding(.sought, "\(site.rawValue) fires")) }
        }
        auditor = Auditor(scenario.feeds, hasHook: scenario.hasHook, fail: found.note)
        receiver = Receiver { [found] text in found.note(Finding(.hook, text)) }
        internet = Internet(
            loop, faults, hosts: scenario.hosts, feeds: scenario.feeds, receiver: receiver, fail: found.note)
        disk = FaultyDisk(internet, seed: ownSeed)
        self.losesPower = losesPower
    }

    package func run() -> SimulationResult {
        Self.past.append(self)
        loop.enter()
        disk.enter()
        defer {
            disk.leave()
            loop.leave()
        }
        do {
            try simulate()
        } catch {
            found.note(Finding(.end, "the simulation ends: \(error)"))
        }
        faults.isOn = false
        let runs = (try? daemon?.service.store.runs(of: nil, failed: false, limit: 100_000).count) ?? 0
        let time = loop.now
        let finding = found.finding.map { Finding($0.rule, "at \(Trace.written(time)): \($0.text)") }
        try? auditor.close()
        daemon?.close()
        second?.close()
        return SimulationResult(
            seed: seed, digest: loop.trace.digest, pieces: loop.steps, runs: runs, requests: internet.requests,
            powerFailures: faults.fired[.power] ?? 0, time: time, faults: faults.description, trace: loop.trace,
            steps: steps.taken, finding: finding)
    }

    private func simulate() throws {
        try start(on: nil)
        for feed in scenario.feeds { scheduleChange(1, of: feed) }
        scheduleOperation(1)
        try go(until: { self.loop.now >= self.scenario.troubled })
        loop.note("all is well from here")
        faults.isOn = false
        piecesUntilKill = nil
        disk.failPower(after: nil)
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
        guard found.finding == nil, !isSettled else { return }
        let what = try auditor.unsettled(receiver) ?? ""
        found.note(Finding(.liveness, "after \(Trace.written(Self.patience)) without faults, \(what)"))
    }

    /// Goes on until something is found, or a condition holds.
    private func go(until isOver: () throws -> Bool) throws {
        while found.finding == nil {
            if disk.left != nil { try losePower() }
            guard try !isOver() else { return }
            let before = loop.steps
            guard loop.step() else {
                return found.note(Finding(.end, "nothing is left to do, and nobody waits for anything"))
            }
            // Nobody sees what comes after a power failure.
            if disk.left != nil { continue }
            // A command writes without the lane of its store's writer.
            if internet.hasWritten || second != nil || loop.steps % 64 == 0 {
                internet.hasWritten = false
                try auditor.look()
            }
            if let daemon, daemon.hasEnded, !isStopping {
                // A daemon that cannot read its store when it starts ends with that error, and is started again.
                guard faults.isOn, daemon.error is StoreError else {
                    return found.note(Finding(.end, "the daemon has ended by itself"))
                }
                isStopping = true
            }
            if let second, second.hasEnded {
                second.close()
                self.second = nil
            }
            if isStopping, daemon?.hasEnded ?? false { try finishStopping() }
            guard let left = piecesUntilKill else { continue }
            piecesUntilKill = left - (loop.steps - before)
            if left <= 0 { try kill() }
        }
    }

    // MARK: - Processes

    /// Starts a daemon on a copy of its files.
    ///
    /// - Parameters:
    ///   - former: the folder of the files; nil for the first one.
    ///   - left: what a power failure has left of them; nil for all.
    private func start(on former: String?, _ left: DurableFiles.Left? = nil) throws {
        lives += 1
        let path = folder + "/\(lives)"
        if let former {
            try FileManager.default.copyItem(atPath: former, toPath: path)
            try left?.write(into: path)
        } else {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try scenario.schema.write(toFile: path + "/schema.sql", atomically: false, encoding: .utf8)
        }
        disk.watch(path)
        if losesPower { schedulePowerFailure() }
        try launch(in: path)
        guard disk.left == nil else { return try losePower() }
        try auditor.open(path + "/store.sqlite")
        if left != nil { try auditor.checkWhole() }
        try auditor.look()
    }

    private func schedulePowerFailure() {
        var random = SplitMix64(seed: ownSeed ^ Fingerprint.hash("power#\(lives)"))
        guard faults.isOn, steps.take("power#\(lives)") else { return }
        disk.failPower(after: Int.random(in: 0...(random.oneIn(6) ? 300 : 30), using: &random))
    }

    private func launch(in path: String) throws {
        let process = nextProcess()
        let daemon = try Daemon(
            process, in: path, toml: scenario.toml(disabled: disabled, caches: caches), internet,
            clock: SimulatedClock(loop, error: clockError), seed: ownSeed &+ UInt64(process))
        loop.note("starts as p\(process)")
        self.daemon = daemon
        daemons.append(daemon)
        daemon.run()
    }

    private var processes = 0

    /// Begins a process that does something once, on the daemon's store.
    ///
    /// - Parameter body: gets the service, and the process's clock and threads.
    func begin(
        once body: @escaping @Sendable (SyncService, SimulatedClock, SimulatedThreads) async throws -> Void
    ) throws {
        guard let daemon else { return }
        let process = nextProcess()
        let second = try Daemon(
            process, in: daemon.folder, toml: scenario.toml(disabled: disabled, caches: caches), internet,
            clock: SimulatedClock(loop, error: clockError), seed: ownSeed &+ UInt64(process))
        loop.note("starts as p\(process)")
        self.second = second
        daemons.append(second)
        second.run(once: body)
    }

    private func nextProcess() -> EventLoop.Process {
        processes += 1
        return processes
    }

    /// Ends all processes, and starts another on what is in the files at this moment.
    private func kill() throws {
        guard let daemon else { return }
        loop.note("p\(daemon.process) is killed")
        try replace(daemon)
    }

    /// Ends all processes, and starts another on what the power failure has left.
    private func losePower() throws {
        guard let daemon else { return }
        try replace(daemon, disk.left)
    }

    private func replace(_ daemon: Daemon, _ left: DurableFiles.Left? = nil) throws {
        piecesUntilKill = nil
        for dead in [daemon, second].compactMap(\.self) {
            loop.kill(dead.process)
            internet.forget(dead.process)
        }
        let others = second
        second = nil
        isStopping = false
        try start(on: daemon.folder, left)
        daemon.close()
        others?.close()
    }

    private(set) var isStopping = false

    func stop() {
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
}
