import FeedModel
import Foundation
import TestSupport
import TributaryEngine

/// What processes begin with, and how they end.
extension Simulation {
    /// Starts all daemons on a copy of their files.
    ///
    /// - Parameters:
    ///   - former: the folder of the files; nil for the first one.
    ///   - left: what a power failure has left of them; nil for all.
    func start(on former: String?, _ left: DurableFiles.Left? = nil) throws {
        lives += 1
        home = folder + "/\(lives)"
        if let former {
            try FileManager.default.copyItem(atPath: former, toPath: home)
            try left?.write(into: home)
        } else {
            try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
            try scenario.schema.write(toFile: home + "/schema.sql", atomically: false, encoding: .utf8)
        }
        disk.watch(home)
        if losesPower { schedulePowerFailure() }
        for node in nodes {
            try launch(node)
            guard disk.left == nil else { return try losePower() }
        }
        try auditor.open(home + "/store.sqlite")
        if left != nil { try auditor.checkWhole() }
        try auditor.look()
    }

    private func schedulePowerFailure() {
        var random = SplitMix64(seed: ownSeed ^ Fingerprint.hash("power#\(lives)"))
        guard faults.isOn, steps.take("power#\(lives)") else { return }
        disk.failPower(after: Int.random(in: 0...(random.oneIn(6) ? 300 : 30), using: &random))
    }

    private func folder(of node: Node) throws -> String {
        guard scenario.isShared else { return home }
        let path = home + "/m\(node.number)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }

    private func make(on node: Node) throws -> Daemon {
        processes += 1
        let daemon = try Daemon(
            processes, in: folder(of: node), toml: scenario.toml(disabled: node.disabled, caches: node.caches),
            internet,
            clock: SimulatedClock(loop, error: node.clockError), seed: ownSeed &+ UInt64(processes))
        loop.note("starts as p\(processes)")
        node.past.append(daemon)
        return daemon
    }

    /// Starts a daemon on a machine that has none.
    func launch(_ node: Node) throws {
        let daemon = try make(on: node)
        node.daemon = daemon
        daemon.run()
    }

    /// Begins a process that does something once, on the store of a daemon.
    ///
    /// - Parameter body: gets the service, and the process's clock and threads.
    func begin(
        on node: Node,
        once body: @escaping @Sendable (SyncService, SimulatedClock, SimulatedThreads) async throws -> Void
    ) throws {
        let second = try make(on: node)
        internet.commands.insert(second.process)
        self.second = second
        second.run(once: body)
    }

    /// Ends a daemon as SIGKILL does. One that shares its store may come back to it later; otherwise another begins with what
    /// is in the files at this moment.
    func kill(_ node: Node) throws {
        guard let daemon = node.daemon else { return }
        loop.note("p\(daemon.process) is killed")
        guard scenario.isShared else { return try replaceAll() }
        var random = SplitMix64(seed: ownSeed ^ UInt64(daemon.process))
        end(daemon)
        node.daemon = nil
        node.isStopping = false
        daemon.close()
        if random.oneIn(5), nodes.contains(where: { $0.daemon != nil }) { return }
        loop.after(.seconds(Int.random(in: 0...120, using: &random))) { [self] in
            guard node.daemon == nil else { return }
            do { try launch(node) } catch { found.note(Finding(.end, "a daemon cannot start: \(error)")) }
        }
    }

    private func end(_ daemon: Daemon) {
        loop.kill(daemon.process)
        internet.forget(daemon.process)
    }

    /// Ends all processes, and starts others on what the power failure has left.
    func losePower() throws { try replaceAll(disk.left) }

    private func replaceAll(_ left: DurableFiles.Left? = nil) throws {
        let dead = nodes.compactMap(\.daemon) + [second].compactMap(\.self)
        for daemon in dead { end(daemon) }
        (second, ran) = (nil, nil)
        for node in nodes {
            (node.daemon, node.isStopping) = (nil, false)
            node.forgetBlow()
        }
        try start(on: home, left)
        for daemon in dead { daemon.close() }
    }

    func stop(_ node: Node) {
        guard let daemon = node.living else { return }
        loop.note("p\(daemon.process) is told to stop")
        node.isStopping = true
        daemon.stop()
    }

    /// Starts a daemon that has ended again, unless it should not have ended.
    func tend(_ node: Node) throws {
        guard let daemon = node.daemon, daemon.hasEnded else { return }
        if !node.isStopping {
            // A daemon that cannot read its store when it starts ends with that error, and is started again.
            guard faults.isOn, daemon.error is StoreError else {
                return found.note(Finding(.end, "the daemon p\(daemon.process) has ended by itself"))
            }
        }
        node.isStopping = false
        daemon.close()
        internet.forget(daemon.process)
        try launch(node)
    }

    /// Notices the end of a command.
    func tendSecond() {
        guard let second, second.hasEnded else { return }
        second.close()
        self.second = nil
        guard let (sources, node) = ran.take(), let daemon = node.living else { return }
        loop.add(
            { [loop] in
                do { try daemon.service.noteRuns(of: sources) } catch { loop.note("no runs: \(error)") }
            }, daemon.process)
    }
}
