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
    let folder: String
    let scenario: Scenario
    let steps: Steps
    let faults: Faults
    let loop: EventLoop
    let auditor: Auditor
    private let receiver: Receiver
    let internet: Internet
    let disk: FaultyDisk
    let losesPower: Bool
    let nodes: [Node]
    /// A process that runs a command once, beside the daemons.
    var second: Daemon?
    /// The sources that it runs, and the machine of the daemon that hears of it.
    var ran: (sources: [String], node: Node)?
    /// The number of processes so far.
    var processes = 0
    /// The number of folders so far in which the daemons' files were, each a copy of the one before.
    var lives = 0
    /// The last of these folders.
    var home = ""
    let found = Found()
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
        nodes = scenario.clockErrors.enumerated().map { Node($0, clockError: $1) }
        steps.now = { [loop] in loop.now }
        faults.onFire = { [found] site in
            if site == sought { found.note(Finding(.sought, "\(site.rawValue) fires")) }
        }
        auditor = Auditor(scenario.feeds, hasHook: scenario.hasHook, fail: found.note)
        receiver = Receiver { [found] text in found.note(Finding(.hook, text)) }
        internet = Internet(
            loop, faults, hosts: scenario.hosts, feeds: scenario.feeds, isShared: scenario.isShared, receiver: receiver,
            fail: found.note)
        internet.clocksAgree = scenario.clockErrors.allSatisfy { $0 == 0 }
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
        let living = nodes.compactMap(\.daemon)
        let rows = try? living.first?.service.store.read { try $0.runs.last(limit: 100_000) }
        let runs = rows?.reduce(0) { $0 + $1.polls } ?? 0
        let time = loop.now
        let finding = found.finding.map { Finding($0.rule, "at \(Trace.written(time)): \($0.text)") }
        try? auditor.close()
        for daemon in living { daemon.close() }
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
        try calmDown()
        scheduleCare()
        try settle(within: Self.patience, .liveness, "without faults")
        // A daemon that does nothing for an hour is not late.
        try go(until: { !self.nodes.compactMap(\.living).contains { self.loop.isPaused($0.process) } })
        guard found.finding == nil else { return }
        loop.note("every feed changes once more")
        for feed in scenario.feeds { feed.change(9999, at: SimulatedClock.epoch + loop.now.seconds) }
        try settle(
            within: scenario.longestWait(isPurged: faults.fired[.purge] != nil), .due,
            "after the last change of its feed")
    }

    /// Goes on until all is well.
    private func settle(within patience: Duration, _ rule: Finding.Rule, _ since: String) throws {
        let limit = loop.now + patience
        var next = loop.now
        var problem: String?
        try go(until: {
            guard self.loop.now >= next else { return false }
            next = self.loop.now + .seconds(60)
            problem = try self.auditor.unsettled(self.receiver)
            return problem == nil || self.loop.now >= limit
        })
        if let problem { found.note(Finding(rule, "\(Trace.written(patience)) \(since), \(problem)")) }
    }

    /// Has nothing go wrong any more. Daemons that were killed for good stay away, as long as another lives.
    private func calmDown() throws {
        loop.note("all is well from here")
        faults.isOn = false
        disk.failPower(after: nil)
        for node in nodes {
            node.forgetBlow()
            node.daemon.map { internet.mend($0.process) }
            guard node.disabled != [] || !node.caches.isEmpty else { continue }
            (node.disabled, node.caches) = ([], [:])
            try node.daemon?.reload(scenario.toml())
        }
        if nodes.allSatisfy({ $0.daemon == nil }) { try launch(nodes[0]) }
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
            if internet.hasWritten || second != nil || loop.steps % 512 == 0 {
                internet.hasWritten = false
                try auditor.look(after: scenario.isShared ? loop.last : nil)
            }
            tendSecond()
            for node in nodes {
                try tend(node)
                try node.count(loop.steps - before)
            }
        }
    }
}
