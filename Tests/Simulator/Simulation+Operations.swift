import FeedConfiguration
import FeedModel
import FeedStores
import Foundation
import TestSupport
import TributaryEngine

/// What publishers and operators do, and what happens to processes.
extension Simulation {
    /// What is done now and then where a seed arms it.
    private static let operations: [FaultSite] = [
        .kill, .pause, .restart, .clock, .reload, .refresh, .secondProcess, .undo, .purge, .accept, .resume,
        .power, .cutOff,
    ]
    /// What commands do, each in a process of its own.
    private static let commands: Set<FaultSite> = [.secondProcess, .undo, .purge, .accept, .resume]

    private func random(_ number: Int, _ what: String) -> SplitMix64 {
        SplitMix64(seed: ownSeed ^ Fingerprint.hash("\(what)#\(number)"))
    }

    // MARK: - Publishers

    func scheduleChange(_ number: Int, of feed: Feed) {
        var random = random(number, feed.table)
        let seconds =
            random.oneIn(12)
            ? Double(Int.random(in: 1...9, using: &random)) / 10
            : Double(Int.random(in: scenario.isShared ? 20...600 : 60...2400, using: &random))
        let moves = random.oneIn(10) && faults.armed[.redirect] != nil
        let host =
            random.oneIn(3) || scenario.isShared ? nil : scenario.hosts.keys.sorted().randomElement(using: &random)
        loop.after(.seconds(seconds)) { [self] in
            guard faults.isOn else { return }
            defer { scheduleChange(number + 1, of: feed) }
            if moves {
                guard steps.take("move:\(feed.table)#\(number)", "to \(host ?? "where it was")") else { return }
                feed.move(number, to: host)
                loop.note("\(feed.table) moves to \(feed.address)")
            } else {
                guard steps.take("change:\(feed.table)#\(number)") else { return }
                feed.change(number, at: SimulatedClock.epoch + loop.now.seconds)
                loop.note("\(feed.host)\(feed.path) becomes version \(feed.current)")
            }
        }
    }

    // MARK: - Operators

    func scheduleOperation(_ number: Int) {
        var random = random(number, "operation")
        let armed = Self.operations.filter { faults.armed[$0] != nil && ($0 != .cutOff || scenario.isShared) }
        let time = Duration.seconds(Int.random(in: scenario.isShared ? 1...120 : 10...900, using: &random))
        guard let operation = armed.randomElement(using: &random) else { return }
        loop.after(time) { [self] in
            guard faults.isOn else { return }
            do { try operate(operation, number, &random) } catch {
                found.note(Finding(.end, "an operation fails: \(error)"))
            }
            scheduleOperation(number + 1)
        }
    }

    private func operate(_ operation: FaultSite, _ number: Int, _ random: inout SplitMix64) throws {
        let running = nodes.filter { $0.living.map { !loop.isPaused($0.process) } ?? false }
        guard let node = running.randomElement(using: &random), let daemon = node.daemon else { return }
        let isCommand = Self.commands.contains(operation)
        guard second == nil || !isCommand, steps.take("\(operation.rawValue)#\(number)") else { return }
        if operation != .power { faults.count(operation) }
        guard !isCommand else { return try command(operation, on: node, &random) }
        switch operation {
        case .kill:
            node.strike(after: Int.random(in: 0...400, using: &random)) { [self] in try kill(node) }
        case .power:
            disk.failPower(after: Int.random(in: 0...60, using: &random))
        case .pause:
            let process = random.oneIn(3) ? second?.process ?? daemon.process : daemon.process
            let seconds = Int.random(in: 1...(scenario.isShared && !random.oneIn(4) ? 90 : 3600), using: &random)
            guard scenario.isShared else { return pause(process, for: seconds) }
            // Between two pieces of work of which the second one is a commit, say.
            node.strike(after: Int.random(in: 0...200, using: &random)) { [self] in pause(process, for: seconds) }
        case .cutOff:
            let seconds = Int.random(in: 1...90, using: &random)
            loop.note("p\(daemon.process) cannot reach the store for \(seconds) s")
            internet.cut(daemon.process)
            loop.after(.seconds(seconds)) { [internet] in internet.mend(daemon.process) }
        case .restart:
            stop(node)
        case .clock:
            let seconds = Double(Int.random(in: -7200...7200, using: &random))
            loop.note("the clock of p\(daemon.process) is set by \(seconds) s")
            node.clockError += seconds
            internet.clocksAgree = false
            for process in node.past { process.clock.error = node.clockError }
        case .reload:
            try change(node, &random)
        default:
            guard let name = scenario.sources.randomElement(using: &random)?.name else { return }
            if random.oneIn(3) { return refresh(name, node) }
            // While it runs.
            internet.whenAsked[name] = { [self] in refresh(name, node) }
        }
    }

    private func pause(_ process: EventLoop.Process, for seconds: Int) {
        loop.note("p\(process) does nothing for \(seconds) s")
        loop.pause(process)
        internet.delay(process)
        loop.after(.seconds(seconds)) { [loop] in loop.resume(process) }
    }

    private func refresh(_ name: String, _ node: Node) {
        guard faults.isOn, let daemon = node.living, !loop.isPaused(daemon.process) else { return }
        loop.note("refresh \(name)")
        loop.run(as: daemon.process) {
            do { try daemon.service.refreshEverywhere([name]) } catch { loop.note("no refresh: \(error)") }
        }
    }

    private func change(_ node: Node, _ random: inout SplitMix64) throws {
        guard let source = scenario.sources.randomElement(using: &random) else { return }
        guard random.oneIn(2) else {
            node.caches[source.name] = Int.random(in: 3...30, using: &random)
            return try reload(node)
        }
        // Daemons that share a store declare the same sources.
        let isOff = node.disabled.contains(source.name)
        for node in nodes {
            if isOff { node.disabled.remove(source.name) } else { node.disabled.insert(source.name) }
            try reload(node)
        }
    }

    private func reload(_ node: Node) throws {
        let caches = node.caches.sorted { $0.key < $1.key }
        loop.note("reload of \(node.number): without \(node.disabled.sorted()), caches \(caches)")
        try node.daemon?.reload(scenario.toml(disabled: node.disabled, caches: node.caches))
    }

    /// Begins a command.
    private func command(_ operation: FaultSite, on node: Node, _ random: inout SplitMix64) throws {
        let names = scenario.sources.map(\.name).filter { _ in random.oneIn(2) }
        guard let name = scenario.sources.randomElement(using: &random)?.name else { return }
        let (isFirst, minutes) = (random.oneIn(2), Double(Int.random(in: 0...60, using: &random)))
        loop.note("\(operation.rawValue) of \(operation == .secondProcess ? names.joined(separator: ", ") : name)")
        // Of a store on a server, the daemons hear of runs through the server.
        if operation == .secondProcess, !scenario.isShared {
            ran = (names.isEmpty ? scenario.sources.map(\.name) : names, node)
        }
        try begin(on: node) { service, clock, threads in
            switch operation {
            case .undo:
                let target = isFirst ? UndoRun.Target.lastChange : .time(clock.now() - 60 * minutes)
                _ = try await UndoRun(
                    name, to: target, in: service.store, declaration: service.configuration[source: name],
                    parsers: Daemon.parsers, clock: clock, threads: threads
                ).run()
            case .purge:
                try Self.purge(name, service, clock)
            case .accept:
                _ = try service.store.accept([name], inAdvance: isFirst, at: clock.now())
            case .resume:
                _ = try service.store.write { try $0.sources.resume([name]) }
            default:
                _ = try await service.sync(names, mode: .force)
            }
        }
    }

    /// Does what `tributary purge` does.
    private static func purge(_ name: String, _ service: SyncService, _ clock: SimulatedClock) throws {
        guard let claim = try service.store.claim(name) else { return }
        defer { claim.unlock() }
        let purge = try service.configuration.purge(
            of: name, in: service.store, parsers: Daemon.parsers, now: clock.now())
        _ = try service.store.purge(purge, isTrial: false)
    }

    /// Accepts what is blocked, and resumes what is paused, every ten minutes.
    func scheduleCare() {
        loop.after(.seconds(600)) { [self] in
            defer { scheduleCare() }
            guard let daemon = nodes.compactMap(\.living).first else { return }
            loop.run(as: daemon.process) {
                let store = daemon.service.store
                do {
                    for source in scenario.sources.map(\.name) {
                        if try store.read({ try $0.runs.blocked(of: source) }) != nil {
                            _ = try daemon.service.accept([source])
                        }
                        let state = try store.read { try $0.sources.state(of: source) }
                        if state.attempts > 0 || state.undone != nil { _ = try daemon.service.resume([source]) }
                    }
                } catch {
                    loop.note("no care: \(error)")
                }
            }
        }
    }
}
