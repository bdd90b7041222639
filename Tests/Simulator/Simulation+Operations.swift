import FeedDeclarations
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
        .power,
    ]

    private func random(_ number: Int, _ what: String) -> SplitMix64 {
        SplitMix64(seed: ownSeed ^ Fingerprint.hash("\(what)#\(number)"))
    }

    // MARK: - Publishers

    func scheduleChange(_ number: Int, of feed: Feed) {
        var random = random(number, feed.table)
        let seconds =
            random.oneIn(12)
            ? Double(Int.random(in: 1...9, using: &random)) / 10
            : Double(Int.random(in: 60...2400, using: &random))
        let moves = random.oneIn(10) && faults.armed[.redirect] != nil
        let host = random.oneIn(3) ? nil : scenario.hosts.keys.sorted().randomElement(using: &random)
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
        let armed = Self.operations.filter { faults.armed[$0] != nil }
        let time = Duration.seconds(Int.random(in: 10...900, using: &random))
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
        guard let daemon, !isStopping, !loop.isPaused(daemon.process) else { return }
        let isCommand = [.secondProcess, .undo, .purge, .accept, .resume].contains(operation)
        guard second == nil || !isCommand, steps.take("\(operation.rawValue)#\(number)") else { return }
        if operation != .power { faults.count(operation) }
        guard !isCommand else { return try command(operation, &random) }
        switch operation {
        case .kill:
            // At any piece of work of a time in which there is some.
            piecesUntilKill = Int.random(in: 0...400, using: &random)
        case .power:
            disk.failPower(after: Int.random(in: 0...60, using: &random))
        case .pause:
            let process = random.oneIn(3) ? second?.process ?? daemon.process : daemon.process
            let seconds = Int.random(in: 1...3600, using: &random)
            loop.note("p\(process) does nothing for \(seconds) s")
            loop.pause(process)
            loop.after(.seconds(seconds)) { [loop] in loop.resume(process) }
        case .restart:
            stop()
        case .clock:
            let seconds = Double(Int.random(in: -7200...7200, using: &random))
            loop.note("the clock is set by \(seconds) s")
            clockError += seconds
            daemon.clock.error = clockError
            second?.clock.error = clockError
        case .reload:
            try change(daemon, &random)
        default:
            guard let name = scenario.sources.randomElement(using: &random)?.name else { return }
            if random.oneIn(3) { return refresh(name) }
            // While it runs.
            internet.whenAsked[name] = { [self] in refresh(name) }
        }
    }

    private func refresh(_ name: String) {
        guard faults.isOn, let daemon, !isStopping, !loop.isPaused(daemon.process) else { return }
        loop.note("refresh \(name)")
        loop.run(as: daemon.process) { daemon.service.refresh([name]) }
    }

    private func change(_ daemon: Daemon, _ random: inout SplitMix64) throws {
        guard let source = scenario.sources.randomElement(using: &random) else { return }
        if random.oneIn(2) {
            if disabled.remove(source.name) == nil { disabled.insert(source.name) }
        } else {
            caches[source.name] = Int.random(in: 3...30, using: &random)
        }
        loop.note("reload: without \(disabled.sorted()), caches \(caches.sorted { $0.key < $1.key })")
        try daemon.reload(scenario.toml(disabled: disabled, caches: caches))
    }

    /// Begins a command.
    private func command(_ operation: FaultSite, _ random: inout SplitMix64) throws {
        let names = scenario.sources.map(\.name).filter { _ in random.oneIn(2) }
        guard let name = scenario.sources.randomElement(using: &random)?.name else { return }
        let (isFirst, minutes) = (random.oneIn(2), Double(Int.random(in: 0...60, using: &random)))
        loop.note("\(operation.rawValue) of \(operation == .secondProcess ? names.joined(separator: ", ") : name)")
        try begin { service, clock, threads in
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
                _ = try service.store.resume([name])
            default:
                _ = try await service.sync(names, mode: .force)
            }
        }
    }

    /// Does what `tributary purge` does.
    private static func purge(_ name: String, _ service: SyncService, _ clock: SimulatedClock) throws {
        guard let claim = try service.store.claim(name) else { return }
        defer { claim.unlock() }
        let purge = try SourcePurge(source: name, configuration: service.configuration, store: service.store)
            .purge(parsers: Daemon.parsers, now: clock.now())
        _ = try service.store.purge(purge, isTrial: false)
    }

    /// Accepts what is blocked, and resumes what is paused, every ten minutes.
    func scheduleCare() {
        loop.after(.seconds(600)) { [self] in
            defer { scheduleCare() }
            guard let daemon, !isStopping else { return }
            loop.run(as: daemon.process) {
                let store = daemon.service.store
                do {
                    for source in scenario.sources.map(\.name) {
                        if try store.blockedRun(of: source) != nil { _ = try daemon.service.accept([source]) }
                        let state = try store.sourceState(source)
                        if state.attempts > 0 || state.undone != nil { _ = try daemon.service.resume([source]) }
                    }
                } catch {
                    loop.note("no care: \(error)")
                }
            }
        }
    }
}
